#include "algorithm/server/ps_worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

Part Slice(Vec vector, ReplicaRange range) { return {vector, range.offset, range.size}; }

}  // namespace

PsWorker::PsWorker(ParameterServers servers, AlgorithmOptions options)
    : servers_(servers), options_(std::move(options)) {}

absl::Status PsWorker::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    OnLimit(*limit, host);
    return absl::OkStatus();
  }
  weights_ = host.InitialReplica(host.whole_replica());
  started_ = true;
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status PsWorker::OnReceived(const Received& event, Host& host) {
  if (event.tag != ParameterServers::WeightsTag(round_) || missing_.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat("weights of rank ", event.from, " for round ",
                                            event.tag.index, " came without a post in round ",
                                            round_));
  }
  if (missing_.empty()) EndRound(host);
  return absl::OkStatus();
}

absl::Status PsWorker::OnGradient(const GradientReady& event, Host& host) {
  if (!computing_ || event.round != round_) {
    return absl::InternalError(
        absl::StrCat("a gradient of round ", event.round, " came unasked in round ", round_));
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
  for (Rank index = 0; index < servers_.servers(); ++index) {
    const Rank server = servers_.ServerRank(index);
    missing_.insert(server);
    host.Post(server, ParameterServers::WeightsTag(round_),
              Slice(weights_, servers_.Shard(index, host.replica_size())), round_);
  }
}

// Each worker begins with another server, so that they do not all queue up at one.
void PsWorker::SendGradient(Host& host) {
  for (Rank i = 0; i < servers_.servers(); ++i) {
    const Rank index = (options_.rank + i) % servers_.servers();
    const Rank server = servers_.ServerRank(index);
    unsent_.insert(host.Send(server, ParameterServers::GradientTag(round_),
                             Slice(gradient_, servers_.Shard(index, host.replica_size()))));
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
  for (const Rank server : missing_) {
    waiting.push_back({server, ParameterServers::WeightsTag(round_)});
  }
  return waiting;
}

std::vector<Rank> PsWorker::Peers(Round, Round) const {
  std::vector<Rank> peers;
  for (Rank index = 0; index < servers_.servers(); ++index) {
    peers.push_back(servers_.ServerRank(index));
  }
  return peers;
}

}  // namespace grapevine
