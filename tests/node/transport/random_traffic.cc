#include "tests/node/transport/random_traffic.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

// Foreseen messages and others differ in their channel.
constexpr uint16_t kForeseen = 0, kOffered = 1;
constexpr uint64_t kTags = 3;
constexpr size_t kMaxPosts = 6;
const std::chrono::seconds kPatience = testing::Patient(std::chrono::seconds(20));

// Several chunks for some.
int64_t ElementsOf(const Tag& tag) { return tag.step == 0 ? 300'000 : 10 * tag.step; }

}  // namespace

RandomTraffic::RandomTraffic(TransportNetwork* network, Rank nodes, uint64_t seed)
    : network_(network), size_(nodes), random_(seed, Purpose::kShuffle), nodes_(nodes) {
  std::vector<Rank> all;
  for (Rank rank = 0; rank < size_; ++rank) all.push_back(rank);
  for (Rank rank = 0; rank < size_; ++rank) {
    network_->sink(rank).on_report = [this, rank](const Report& report) {
      MutexLock lock(mutex_);
      reports_.emplace_back(rank, report);
      reported_.NotifyOne();
    };
    std::vector<Rank> peers = all;
    peers.erase(peers.begin() + rank);
    transport(rank).Dial(peers);
  }
}

RandomTraffic::~RandomTraffic() {
  for (Rank rank = 0; rank < size_; ++rank) transport(rank).Shutdown();
}

void RandomTraffic::Fail(Rank rank, const std::string& what, const Name& name) {
  if (!wrong_.empty()) return;
  wrong_ = absl::StrCat("rank ", rank, ": ", what, ": ", Describe(name.second), " with rank ",
                        name.first);
}

void RandomTraffic::Check(Rank rank, const absl::Status& status, const Name& name) {
  if (!status.ok()) Fail(rank, status.ToString(), name);
}

std::string RandomTraffic::Run(int requests) {
  for (int i = 0; i < requests && wrong_.empty(); ++i) {
    Request(static_cast<Rank>(random_.Below(static_cast<uint64_t>(size_))));
    while (!Chance(3)) {
      const auto report = Take({});
      if (!report.has_value()) break;
      Handle(report->first, report->second);
    }
  }
  Settle();
  while (wrong_.empty() && !over()) {
    const auto report = Take(kPatience);
    if (!report.has_value()) return "something has not ended";
    Handle(report->first, report->second);
    Settle();
  }
  return wrong_;
}

void RandomTraffic::Request(Rank rank) {
  const auto other = static_cast<Rank>(
      (rank + 1 + static_cast<Rank>(random_.Below(static_cast<uint64_t>(size_ - 1)))) % size_);
  Node& node = nodes_[rank];
  const Name name(other, {.channel = Chance(3) ? kForeseen : kOffered,
                          .index = 4,
                          .step = static_cast<uint32_t>(random_.Below(kTags))});
  const auto any = [&](auto& some) {
    return std::next(some.begin(), static_cast<std::ptrdiff_t>(random_.Below(some.size())));
  };
  switch (random_.Below(4)) {
    case 0:
      if (!node.sending.contains(name)) Send(rank, name, name.second.channel == kOffered);
      break;
    case 1:
      if (!node.posts.contains(name) && node.posts.size() < kMaxPosts) Post(rank, name);
      break;
    case 2:
      if (!node.offers.empty()) Answer(rank, *any(node.offers), !Chance(3));
      break;
    default:
      if (!node.posts.empty()) Withdraw(rank, any(node.posts)->first);
  }
}

void RandomTraffic::Send(Rank rank, const Name& name, bool offered) {
  nodes_[rank].sending[name] = {.serial = ++serial_, .offered = offered};
  Outgoing message(Pattern(ElementsOf(name.second), static_cast<float>(serial_)));
  message.note.clock = serial_;
  message.offered = offered;
  Check(rank, transport(rank).Send(name.first, name.second, std::move(message)), name);
}

void RandomTraffic::Post(Rank rank, const Name& name) {
  Node& node = nodes_[rank];
  Posted posted{.buffer = Zeros(ElementsOf(name.second)), .answers = node.offers.erase(name) > 0};
  Incoming into(posted.buffer);
  into.round = serial_;
  into.credit = Chance(3) ? Credit::kInTurn : Credit::kAtOnce;
  node.posts[name] = std::move(posted);
  Check(rank, transport(rank).Post(name.first, name.second, std::move(into)), name);
}

void RandomTraffic::Answer(Rank rank, Name name, bool take) {
  if (take) return Post(rank, name);
  Check(rank, transport(rank).Decline(name.first, name.second), name);
  nodes_[rank].offers.erase(name);
}

void RandomTraffic::Withdraw(Rank rank, const Name& name) {
  if (std::exchange(nodes_[rank].posts[name].withdrawn, true)) return;
  Check(rank, transport(rank).Withdraw(name.first, name.second), name);
}

void RandomTraffic::Settle() {
  for (Rank rank = 0; rank < size_; ++rank) {
    Node& node = nodes_[rank];
    while (!node.offers.empty()) Answer(rank, *node.offers.begin(), Chance(2));
    for (const auto& [name, sending] : node.sending) {
      const Name mirrored(rank, name.second);
      if (!sending.offered && !nodes_[name.first].posts.contains(mirrored)) {
        Post(name.first, mirrored);
      }
    }
  }
  for (Rank rank = 0; rank < size_; ++rank) {
    for (const auto& [name, post] : nodes_[rank].posts) {
      const auto sent = nodes_[name.first].sending.find({rank, name.second});
      const bool foreseen = sent != nodes_[name.first].sending.end() && !sent->second.offered;
      if (!foreseen) Withdraw(rank, name);
    }
  }
}

bool RandomTraffic::over() const {
  for (const Node& node : nodes_) {
    if (!node.sending.empty() || !node.posts.empty()) return false;
  }
  return true;
}

bool RandomTraffic::reported() {
  MutexLock lock(mutex_);
  return !reports_.empty();
}

std::optional<std::pair<Rank, Report>> RandomTraffic::Take(std::chrono::milliseconds patience) {
  constexpr int kFewSteps = 20;
  for (int steps = 0; patience.count() > 0 || steps < kFewSteps; ++steps) {
    if (reported() || !network_->Advance()) break;
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mutex_);
  while (reports_.empty()) {
    if (!reported_.WaitUntil(mutex_, deadline) && reports_.empty()) return std::nullopt;
  }
  std::pair<Rank, Report> report = std::move(reports_.front());
  reports_.pop_front();
  return report;
}

void RandomTraffic::Handle(Rank rank, const Report& report) {
  Node& node = nodes_[rank];
  const Name name(report.peer, report.tag);
  const auto sending = node.sending.find(name);
  const auto post = node.posts.find(name);
  switch (report.kind) {
    case Report::Kind::kReceived:
      return OnReceived(rank, name, report);
    case Report::Kind::kOffered:
      if (post != node.posts.end()) {
        post->second.answers = true;  // posted for in the meantime
        return;
      }
      if (name.second.channel != kOffered) Fail(rank, "a foreseen message was offered", name);
      if (!node.offers.insert(name).second) Fail(rank, "offered twice", name);
      return;
    case Report::Kind::kLost:
      if (post == node.posts.end() || !post->second.withdrawn || post->second.answers) {
        return Fail(rank, "a post was lost that was not withdrawn, or has its message", name);
      }
      if (post->second.buffer.owner.use_count() != 1) Fail(rank, "its buffer is held", name);
      node.posts.erase(post);
      ++lost_;
      return;
    case Report::Kind::kLeft:
      if (sending == node.sending.end() || std::exchange(sending->second.left, true)) {
        Fail(rank, "left twice, or after the end", name);
      }
      return;
    case Report::Kind::kSent:
      return OnEnd(rank, name, true);
    case Report::Kind::kDeclined:
      ++declined_;
      return OnEnd(rank, name, false);
    case Report::Kind::kFailed:
      return Fail(rank, absl::StrCat("the peer failed: ", report.why.message()), name);
  }
}

void RandomTraffic::OnReceived(Rank rank, const Name& name, const Report& report) {
  Node& node = nodes_[rank];
  const auto post = node.posts.extract(name);
  if (post.empty()) return Fail(rank, "received what is not posted", name);
  if (post.mapped().answers) ++taken_;
  if (node.offers.contains(name)) Fail(rank, "received before it was taken", name);
  const SharedSlice& buffer = post.mapped().buffer;
  if (!SameBits(buffer, Pattern(buffer.size, static_cast<float>(report.note.clock)))) {
    Fail(rank, "received something else", name);
  }
}

void RandomTraffic::OnEnd(Rank rank, const Name& name, bool delivered) {
  const auto sending = nodes_[rank].sending.extract(name);
  if (sending.empty()) return Fail(rank, "ended twice", name);
  if (sending.mapped().left != delivered) Fail(rank, "left, or did not", name);
  if (!delivered && !sending.mapped().offered) Fail(rank, "declined what was not offered", name);
}

}  // namespace grapevine
