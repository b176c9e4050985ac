#include "algorithm/server/async_worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// Beyond this, not every number of gradients is a double.
constexpr double kMaxGradients = 1LL << 53;

}  // namespace

AsyncWorker::AsyncWorker(ShardLayout shards, Rank rank, AsyncWorkerOptions options,
                         std::unique_ptr<WorkerRule> rule)
    : shards_(shards),
      rank_(rank),
      options_(options),
      rule_(std::move(rule)),
      versions_(shards.servers()) {}

absl::Status AsyncWorker::On(const Event& event, Host& host) {
  if (std::holds_alternative<Start>(event)) {
    rule_->Start(host.InitialReplica(host.whole_replica()), host);
    started_ = true;
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    RETURN_IF_ERROR(OnGradient(*ready, host));
  } else if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(OnReceived(*received, host));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(OnSent(*sent));
  } else {
    RETURN_IF_ERROR(CheckForeseen(event));
  }
  if (started_) Advance(host);
  return absl::OkStatus();
}

absl::Status AsyncWorker::OnGradient(const GradientReady& event, Host& host) {
  if (!gradient_ || event.round != steps_ || !event.whole()) {
    return absl::InternalError(absl::StrCat("a gradient of step ", event.round,
                                            " came without a request in step ", steps_));
  }
  rule_->OnGradient(std::exchange(gradient_, Vec{}), steps_, NominalRound(), host);
  ++local_;
  const bool last = steps_ + 1 >= limit_;
  if (local_ == options_.window || last) {
    BeginExchange(last && options_.tells_limit ? Ask::kLastPush : Ask::kPush, host);
  } else {
    EndStep(host);
  }
  return absl::OkStatus();
}

absl::Status AsyncWorker::OnReceived(const Received& event, Host& host) {
  if (!exchange_ || event.tag != AnswerTag(exchanges_ - 1) ||
      exchange_->missing.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat(Describe(event.tag), " of rank ", event.from,
                                            " came without a post in step ", steps_));
  }
  int64_t& version = versions_[shards_.IndexOf(event.from)];
  const double applied = event.note.weight;
  if (event.note.clock < version || applied < 0 || applied > kMaxGradients) {
    return absl::InternalError(absl::StrCat("rank ", event.from, " answered with version ",
                                            event.note.clock, ", of ", applied,
                                            " gradients, after version ", version));
  }
  version = event.note.clock;
  applied_ = std::max(applied_, static_cast<int64_t>(applied));
  if (exchange_->missing.empty()) EndExchange(host);
  return absl::OkStatus();
}

absl::Status AsyncWorker::OnSent(const Sent& event) {
  const auto sent = unsent_.find(event.id);
  if (sent == unsent_.end()) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported in step ", steps_,
                                            "; no such update is on its way"));
  }
  if (!event.delivered) {
    return absl::InternalError(
        absl::StrCat("rank ", sent->second.peer, " declined an update, which no server does"));
  }
  unsent_.erase(sent);
  return absl::OkStatus();
}

void AsyncWorker::Advance(Host& host) {
  if (gradient_ || exchange_) return;
  if (steps_ >= limit_) {
    if (unsent_.empty()) host.Rest(rule_->model());
  } else if (must_pull_) {
    BeginExchange(Ask::kPull, host);
  } else {
    gradient_ = host.New(host.replica_size(), "the gradient");
    host.Gradient(rule_->model(), gradient_, steps_);
  }
}

// Each worker begins with another server, so that they do not all queue up at one.
void AsyncWorker::BeginExchange(Ask ask, Host& host) {
  const bool pushes = ask != Ask::kPull;
  const Vec update = pushes ? rule_->Push(host) : host.New(0, "no update");
  exchange_ = {.ask = ask, .answer = {}, .missing = {}};
  ++exchanges_;
  PostAnswers(host);
  for (Rank i = 0; i < shards_.servers(); ++i) {
    const Rank index = (rank_ + i) % shards_.servers();
    const Waiting message{shards_.ServerRank(index), AskTag(exchanges_ - 1, ask)};
    const Part part =
        pushes ? Slice(update, shards_.Shard(index, host.replica_size())) : Part{update, 0, 0};
    const Note note{.weight = pushes ? static_cast<double>(local_) : 1, .clock = versions_[index]};
    unsent_.emplace(host.Offer(message.peer, message.tag, part, note), message);
  }
  if (!pushes) host.Drop(update);
}

void AsyncWorker::PostAnswers(Host& host) {
  exchange_->answer = host.New(host.replica_size(), "the servers' answer");
  for (Rank index = 0; index < shards_.servers(); ++index) {
    const Rank server = shards_.ServerRank(index);
    exchange_->missing.insert(server);
    host.Post(server, AnswerTag(exchanges_ - 1),
              Slice(exchange_->answer, shards_.Shard(index, host.replica_size())), steps_);
  }
}

void AsyncWorker::EndExchange(Host& host) {
  const Exchange ended = *std::exchange(exchange_, std::nullopt);
  rule_->OnAnswer(ended.answer, host);
  local_ = 0;
  must_pull_ = ended.ask == Ask::kLastPush;
  if (ended.ask != Ask::kPull) EndStep(host);
}

void AsyncWorker::EndStep(Host& host) {
  ++steps_;
  host.Boundary(steps_, rule_->model());
}

Round AsyncWorker::NominalRound() const { return applied_ / shards_.workers() + local_; }

std::vector<Waiting> AsyncWorker::waiting_for() const {
  std::vector<Waiting> waiting;
  if (exchange_) {
    for (const Rank server : exchange_->missing) {
      waiting.push_back({server, AnswerTag(exchanges_ - 1)});
    }
  } else if (!gradient_) {
    for (const auto& [id, update] : unsent_) waiting.push_back(update);
  }
  return waiting;
}

}  // namespace grapevine
