#include "algorithm/server/parameter_server.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
PsWorker::PsWorker(ShardLayout shards, AlgorithmOptions options)
    : shards_(shards), options_(std::move(options)) {}

absl::Status PsWorker::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (std::holds_alternative<Left>(event)) return absl::OkStatus();
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    OnLimit(*limit, host);
    return absl::OkStatus();
  }
  if (const auto* start = std::get_if<Start>(&event)) return OnStart(*start, host);
  return CheckForeseen(event);
}

absl::Status PsWorker::OnStart(const Start& event, Host& host) {
  round_ = event.round;
  weights_ = host.InitialReplica(host.whole_replica());
  if (event.state != nullptr) RETURN_IF_ERROR(VisitState(*event.state, host));
  started_ = true;
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status PsWorker::VisitState(StateVisitor& state, Host&) {
  state.Vector("replica", weights_);
  return absl::OkStatus();
}

absl::Status PsWorker::OnReceived(const Received& event, Host& host) {
  if (event.tag != WeightsTag(round_) || missing_.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat("weights of rank ", event.from, " for round ",
                                            event.tag.index, " came without a post in round ",
                                            round_));
  }
  if (missing_.empty()) EndRound(host);
  return absl::OkStatus();
}

absl::Status PsWorker::OnGradient(const GradientReady& event, Host& host) {
  if (!computing_ || event.round != round_) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round,
                                            " came without a request in round ", round_));
  }
  computing_ = false;
  PostWeights(host);
  SendGradient(host);
  return absl::OkStatus();
}

absl::Status PsWorker::OnSent(const Sent& event, Host& host) {
  if (unsent_.erase(event.id) == 0) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported in round ", round_,
                                            "; no such gradient is on its way"));
  }
  RestIfDone(host);
  return absl::OkStatus();
}

void PsWorker::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return;
  const bool at_rest = round_ >= limit_;
  limit_ = event.limit;
  if (started_ && at_rest) BeginRound(host);
}

void PsWorker::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  computing_ = true;
  gradient_ = host.New(host.replica_size(), "the gradient");
  host.Gradient(weights_, gradient_, round_);
}

void PsWorker::PostWeights(Host& host) {
  host.Drop(std::exchange(weights_, Vec{}));
  weights_ = host.New(host.replica_size(), "the servers' weights");
  for (Rank index = 0; index < shards_.servers(); ++index) {
    const Rank server = shards_.ServerRank(index);
    missing_.insert(server);
    host.Post(server, WeightsTag(round_),
              Slice(weights_, shards_.Shard(index, host.replica_size())), round_);
  }
}

// Each worker begins with another server, so that they do not all queue up at one.
void PsWorker::SendGradient(Host& host) {
  for (Rank i = 0; i < shards_.servers(); ++i) {
    const Rank index = (options_.rank + i) % shards_.servers();
    const Rank server = shards_.ServerRank(index);
    const SendId id = host.Send(server, GradientTag(round_),
                                Slice(gradient_, shards_.Shard(index, host.replica_size())));
    unsent_.emplace(id, server);
  }
  host.Drop(std::exchange(gradient_, Vec{}));
}

void PsWorker::EndRound(Host& host) {
  ++round_;
  host.Boundary(round_, weights_);
  BeginRound(host);
}

void PsWorker::RestIfDone(Host& host) {
  if (started_ && round_ >= limit_ && unsent_.empty()) host.Rest(weights_);
}

std::vector<Waiting> PsWorker::waiting_for() const {
  std::vector<Waiting> waiting;
  if (round_ >= limit_) {
    for (const auto& [id, server] : unsent_) {
      waiting.push_back({server, GradientTag(round_ - 1)});
    }
  }
  for (const Rank server : missing_) {
    waiting.push_back({server, WeightsTag(round_)});
  }
  return waiting;
}

std::vector<Rank> PsWorker::Peers(Round, Round) const { return shards_.ServerRanks(); }

PsServer::PsServer(ShardLayout shards, AlgorithmOptions options)
    : shards_(shards), options_(std::move(options)) {}

absl::Status PsServer::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* left = std::get_if<Left>(&event)) return OnLeft(*left, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) {
    return absl::InternalError(absl::StrCat("a gradient of round ", ready->round,
                                            " came to a parameter server, which asks for none"));
  }
  if (const auto* lost = std::get_if<Lost>(&event)) return OnLost(*lost, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
    PostGradients(host);
    return absl::OkStatus();
  }
  if (const auto* start = std::get_if<Start>(&event)) return OnStart(*start, host);
  return CheckForeseen(event);
}

absl::Status PsServer::OnReceived(const Received& event, Host& host) {
  if (!EndPost(event.from, event.tag)) {
    return absl::InternalError(absl::StrCat("a gradient of rank ", event.from, " for round ",
                                            event.tag.index, " came without a post in round ",
                                            round_));
  }
  StepIfComplete(host);
  return absl::OkStatus();
}

absl::Status PsServer::OnLost(const Lost& event, Host& host) {
  if (!EndPost(event.from, event.tag)) {
    return absl::InternalError(absl::StrCat("the post for ", Describe(event.tag), " of rank ",
                                            event.from, " was lost, but is not awaited"));
  }
  host.Drop(std::exchange(gradients_[event.from], Vec{}));
  StepIfComplete(host);
  return absl::OkStatus();
}

bool PsServer::EndPost(Rank worker, Tag tag) {
  return tag == GradientTag(stepped_) && missing_.erase(worker) > 0;
}

absl::Status PsServer::NotOnItsWay(SendId id) const {
  return absl::InternalError(absl::StrCat("send ", id.id, " was reported in round ", round_,
                                          "; no such weights are on their way"));
}

absl::Status PsServer::OnLeft(const Left& event, Host& host) {
  if (leaving_.erase(event.id) == 0) return NotOnItsWay(event.id);
  if (leaving_.empty()) EndRound(host);
  return absl::OkStatus();
}

absl::Status PsServer::OnSent(const Sent& event, Host& host) {
  if (unsent_.erase(event.id) == 0) return NotOnItsWay(event.id);
  const bool lost = leaving_.erase(event.id) > 0;  // the weights are lost with their receiver
  if (lost && leaving_.empty()) EndRound(host);
  RestIfDone(host);
  return absl::OkStatus();
}

ReplicaRange PsServer::Range(const Host& host) const {
  return shards_.Shard(shards_.IndexOf(options_.rank), host.replica_size());
}

absl::Status PsServer::OnStart(const Start& event, Host& host) {
  round_ = stepped_ = event.round;
  weights_ = host.InitialReplica(Range(host));
  optimizer_.Start(Range(host), round_, host);
  if (event.state != nullptr) RETURN_IF_ERROR(VisitState(*event.state, host));
  started_ = true;
  PostGradients(host);
  RestIfDone(host);
  return absl::OkStatus();
}

absl::Status PsServer::VisitState(StateVisitor& state, Host&) {
  state.Vector("shard", weights_);
  optimizer_.VisitState(state);
  return absl::OkStatus();
}

void PsServer::PostGradients(Host& host) {
  if (!started_ || !gradients_.empty() || stepped_ >= limit_) return;
  const int64_t size = Range(host).size;
  for (Rank worker = 0; worker < shards_.workers(); ++worker) {
    gradients_.push_back(host.New(size, "a worker's gradient"));
    missing_.insert(worker);
    host.Post(worker, GradientTag(stepped_), Part{gradients_.back(), 0, size}, stepped_);
  }
}

void PsServer::StepIfComplete(Host& host) {
  if (gradients_.empty() || !missing_.empty() || !leaving_.empty()) return;
  Step(host);
  ++stepped_;
  PostGradients(host);
  SendWeights(host);
}

void PsServer::Step(Host& host) {
  const ReplicaRange range = Range(host);
  std::erase_if(gradients_, [](Vec gradient) { return !gradient; });
  if (gradients_.empty()) return;  // all workers are lost
  std::vector<Term> sum;
  for (const Vec gradient : gradients_) sum.push_back({1.0, {gradient, 0, range.size}});
  if (sum.size() > 1) host.Combine(sum.front().part, sum);
  const Vec next = host.New(range.size, "the stepped weights");
  const Term own{1.0, {weights_, 0, range.size}};
  host.Step({.range = range,
             .out = next,
             .mix = {&own, 1},
             .own = weights_,
             .gradient = gradients_.front(),
             .state = optimizer_.vector(),
             .step = optimizer_.StepIn(stepped_),
             .learning_rate = options_.learning_rate(stepped_),
             .gradient_scale = 1.0 / static_cast<double>(sum.size())});
  for (const Vec gradient : gradients_) host.Drop(gradient);
  gradients_.clear();
  host.Drop(std::exchange(weights_, next));
}

void PsServer::SendWeights(Host& host) {
  for (Rank worker = 0; worker < shards_.workers(); ++worker) {
    const SendId id = host.Send(worker, WeightsTag(round_), Part{weights_, 0, Range(host).size});
    leaving_.emplace(id, worker);
    unsent_.emplace(id, worker);
  }
}

void PsServer::EndRound(Host& host) {
  ++round_;
  host.Boundary(round_, Vec{});
  StepIfComplete(host);
  RestIfDone(host);
}

void PsServer::RestIfDone(Host& host) {
  if (started_ && round_ >= limit_ && unsent_.empty()) host.Rest(Vec{});
}

std::vector<Waiting> PsServer::waiting_for() const {
  std::vector<Waiting> waiting;
  // At the end of the run, waits until the weights are received; before that, only until they have
  // left.
  for (const auto& [id, worker] : round_ >= limit_ ? unsent_ : leaving_) {
    waiting.push_back({worker, WeightsTag(stepped_ - 1)});
  }
  if (!waiting.empty()) return waiting;
  for (const Rank worker : missing_) {
    waiting.push_back({worker, GradientTag(stepped_)});
  }
  return waiting;
}

std::vector<Rank> PsServer::Peers(Round, Round) const { return shards_.WorkerRanks(); }

}  // namespace grapevine
