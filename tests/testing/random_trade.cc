#include "tests/testing/random_trade.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace grapevine::testing {
namespace {

constexpr uint16_t kForeseen = 0, kOffers = 1;
constexpr int64_t kMaxWorth = 8;
// Few, so that they are used again.
constexpr uint64_t kTags = 3;
constexpr size_t kMaxOutgoing = 4, kMaxAhead = 3;

absl::Status Broken(const char* rule, Rank peer, const Tag& tag) {
  return absl::InternalError(absl::StrCat(rule, ": ", Describe(tag), ", with rank ", peer));
}

template <typename Map>
auto Any(Map& map, KeyedRandom& random) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(random.Below(map.size())));
}

}  // namespace

absl::Status RandomTrade::On(const Event& event, Host& host) {
  absl::Status status = std::visit([&](const auto& e) { return Handle(e, host); }, event);
  if (status.ok() && started_) {
    Trade(host);
    RestIfDone(host);
  }
  return status;
}

absl::Status RandomTrade::Handle(const Start&, Host& host) {
  unit_ = host.InitialReplica(host.whole_replica());
  model_ = host.InitialReplica(host.whole_replica());
  started_ = true;
  BeginStep(host);
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const Received& event, Host& host) {
  const auto post = posts_.find({event.from, event.tag});
  if (post == posts_.end()) return Broken("received what is not posted", event.from, event.tag);
  if (offers_.contains(post->first)) return Broken("received before", event.from, event.tag);
  if (event.bytes != host.replica_size() * int64_t{sizeof(float)} || event.note.weight != 0.5 ||
      event.note.clock < 1 || event.note.clock > kMaxWorth) {
    return Broken("received something else", event.from, event.tag);
  }
  if (tally_ != nullptr && event.tag.channel == kOffers) {
    ++(post->second.answers ? tally_->taken : tally_->met);
  }
  gained_ += event.note.clock;
  Gain(post->second.vector, 1, host);
  posts_.erase(post);
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const Offered& event, Host& host) {
  const Name name(event.from, event.tag);
  if (posts_.contains(name)) return Broken("offered what is posted", event.from, event.tag);
  if (event.tag.channel != kOffers) return Broken("offered a send", event.from, event.tag);
  if (event.bytes != host.replica_size() * int64_t{sizeof(float)}) {
    return Broken("offered something else", event.from, event.tag);
  }
  if (!offers_.emplace(name, event.note).second) {
    return Broken("offered twice", event.from, event.tag);
  }
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const Lost& event, Host& host) {
  const auto post = posts_.find({event.from, event.tag});
  if (post == posts_.end() || !post->second.withdrawn || post->second.answers) {
    return Broken("lost what was not withdrawn", event.from, event.tag);
  }
  if (tally_ != nullptr) ++tally_->lost;
  host.Drop(post->second.vector);
  posts_.erase(post);
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const GradientReady& event, Host& host) {
  if (!computing_ || event.round != step_ || !event.whole()) {
    return absl::InternalError(absl::StrCat("a gradient of step ", event.round, " in ", step_));
  }
  computing_ = false;
  host.Drop(gradient_);
  host.GradientApplied(static_cast<int64_t>(outgoing_.size()));
  host.Boundary(++step_, model_);
  BeginStep(host);
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const Left& event, Host&) {
  const auto sent = outgoing_.find(event.id);
  if (sent == outgoing_.end() || sent->second.left) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " left twice, or after its end"));
  }
  sent->second.left = true;
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const Sent& event, Host& host) {
  const auto sent = outgoing_.find(event.id);
  if (sent == outgoing_.end()) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " ended twice"));
  }
  const Outgoing& message = sent->second;
  const auto& [to, tag] = message.name;
  if (event.delivered != message.left) return Broken("left, or did not", to, tag);
  if (!event.delivered && !message.offered) return Broken("declined a send", to, tag);
  if (event.delivered) {
    gained_ -= message.worth;
    Gain(message.vector, -1, host);
  } else {
    host.Drop(message.vector);
  }
  outgoing_.erase(sent);
  return absl::OkStatus();
}

absl::Status RandomTrade::Handle(const RoundLimit& event, Host& host) {
  limit_ = std::max(limit_, event.limit);
  if (started_ && !computing_) BeginStep(host);
  return absl::OkStatus();
}

Rank RandomTrade::Somebody() {
  const auto other = static_cast<Rank>(random_.Below(static_cast<uint64_t>(nodes_ - 1)));
  return other < rank_ ? other : other + 1;
}

void RandomTrade::Gain(Vec vector, int64_t worth, Host& host) {
  const Vec grown = host.New(host.replica_size(), "the model");
  const Term terms[] = {{1, Whole(model_, host)},
                        {static_cast<double>(worth), Whole(vector, host)}};
  host.Combine(Whole(grown, host), terms);
  host.Drop(vector);
  host.Drop(std::exchange(model_, grown));
}

void RandomTrade::BeginStep(Host& host) {
  if (done()) return;
  gradient_ = host.New(host.replica_size(), "the gradient");
  computing_ = true;
  const Tag foreseen{kForeseen, step_, 0};
  PostFor({(rank_ + nodes_ - 1) % nodes_, foreseen}, host);
  Dispatch((rank_ + 1) % nodes_, foreseen, false, host);
  host.Gradient(model_, gradient_, step_);
}

void RandomTrade::Dispatch(Rank to, Tag tag, bool offered, Host& host) {
  const int64_t worth = 1 + static_cast<int64_t>(random_.Below(kMaxWorth));
  const Vec vector = host.New(host.replica_size(), "a message");
  const Term terms[] = {{static_cast<double>(worth), Whole(unit_, host)}};
  host.Combine(Whole(vector, host), terms);
  const Note note{.weight = 0.5, .clock = worth};
  const SendId id = offered ? host.Offer(to, tag, Whole(vector, host), note)
                            : host.Send(to, tag, Whole(vector, host), note);
  outgoing_[id] = {.name = {to, tag}, .vector = vector, .worth = worth, .offered = offered};
}

void RandomTrade::PostFor(const Name& name, Host& host) {
  const Vec vector = host.New(host.replica_size(), "a message");
  posts_[name] = {.vector = vector, .answers = offers_.erase(name) > 0};
  const Credit credit = Chance(4) ? Credit::kInTurn : Credit::kAtOnce;
  host.Post(name.first, name.second, Whole(vector, host), step_, credit);
}

void RandomTrade::Trade(Host& host) {
  while (!offers_.empty() && (done() || Chance(2))) {
    const Name name = Any(offers_, random_)->first;
    if (Chance(3)) {
      if (tally_ != nullptr) ++tally_->declined;
      host.Decline(name.first, name.second);
      offers_.erase(name);
    } else {
      PostFor(name, host);
    }
  }
  for (auto& [name, post] : posts_) {
    if (name.second.channel != kOffers || post.withdrawn || !(done() || Chance(8))) continue;
    post.withdrawn = true;
    host.Withdraw(name.first, name.second);
  }
  if (done()) return;
  const Name name(Somebody(), Tag{kOffers, static_cast<int64_t>(random_.Below(kTags)), 7});
  if (Chance(3) && posts_.size() < kMaxAhead && !posts_.contains(name)) PostFor(name, host);
  const bool in_use =
      std::ranges::any_of(outgoing_, [&](const auto& sent) { return sent.second.name == name; });
  if (Chance(2) && outgoing_.size() < kMaxOutgoing && !in_use) {
    Dispatch(name.first, name.second, true, host);
  }
}

void RandomTrade::RestIfDone(Host& host) {
  if (!done() || computing_ || !outgoing_.empty() || !posts_.empty()) return;
  host.Rest(model_);
  if (const auto on_rest = std::exchange(on_rest_, nullptr)) on_rest();
}

std::vector<Waiting> RandomTrade::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const auto& [id, message] : outgoing_) {
    waiting.push_back({message.name.first, message.name.second});
  }
  for (const auto& [name, post] : posts_) {
    if (post.withdrawn || name.second.channel == kForeseen) {
      waiting.push_back({name.first, name.second});
    }
  }
  return waiting;
}

std::vector<Rank> RandomTrade::Peers(Round, Round) const {
  std::vector<Rank> peers;
  for (Rank peer = 0; peer < nodes_; ++peer) {
    if (peer != rank_) peers.push_back(peer);
  }
  return peers;
}

}  // namespace grapevine::testing
