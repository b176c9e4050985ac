#include "algorithm/server/ps_server.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

PsServer::PsServer(ParameterServers servers, AlgorithmOptions options)
    : servers_(servers), options_(std::move(options)) {}

absl::Status PsServer::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) {
    return absl::InternalError(absl::StrCat("a gradient of round ", ready->round,
                                            " came to a parameter server, which asks for none"));
  }
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
    PostGradients(host);
  } else {
    OnStart(host);
  }
  return absl::OkStatus();
}

absl::Status PsServer::OnReceived(const Received& event, Host& host) {
  if (event.tag != ParameterServers::GradientTag(stepped_) || missing_.erase(event.from) == 0) {
    return absl::InternalError(absl::StrCat("a gradient of rank ", event.from, " for round ",
                                            event.tag.index, " came without a post in round ",
                                            round_));
  }
  StepIfComplete(host);
  return absl::OkStatus();
}

absl::Status PsServer::OnSent(const Sent& event, Host& host) {
  if (unsent_.erase(event.id) == 0) {
    return absl::InternalError(absl::StrCat("send ", event.id.id, " was reported in round ", round_,
                                            "; no such weights are on their way"));
  }
  if (unsent_.empty()) EndRound(host);
  return absl::OkStatus();
}

ReplicaRange PsServer::Range(const Host& host) const {
  return servers_.Shard(options_.rank - servers_.workers(), host.replica_size());
}

void PsServer::OnStart(Host& host) {
  weights_ = host.InitialReplica(Range(host));
  optimizer_state_ = host.NewOptimizerState(Range(host));
  started_ = true;
  PostGradients(host);
  RestIfDone(host);
}

void PsServer::PostGradients(Host& host) {
  if (!started_ || !gradients_.empty() || stepped_ >= limit_) return;
  const int64_t size = Range(host).size;
  for (Rank worker = 0; worker < servers_.workers(); ++worker) {
    gradients_.push_back(host.New(size, "a worker's gradient"));
    missing_.insert(worker);
    host.Post(worker, ParameterServers::GradientTag(stepped_), Part{gradients_.back(), 0, size},
              stepped_);
  }
}

void PsServer::StepIfComplete(Host& host) {
  if (gradients_.empty() || !missing_.empty() || !unsent_.empty()) return;
  Step(host);
  ++stepped_;
  PostGradients(host);
  SendWeights(host);
}

void PsServer::Step(Host& host) {
  const ReplicaRange range = Range(host);
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
             .state = optimizer_state_,
             .learning_rate = options_.learning_rate(stepped_),
             .gradient_scale = 1.0 / servers_.workers()});
  for (const Vec gradient : gradients_) host.Drop(gradient);
  gradients_.clear();
  host.Drop(std::exchange(weights_, next));
}

void PsServer::SendWeights(Host& host) {
  for (Rank worker = 0; worker < servers_.workers(); ++worker) {
    const SendId id = host.Send(worker, ParameterServers::WeightsTag(round_),
                                Part{weights_, 0, Range(host).size});
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
  for (const auto& [id, worker] : unsent_) {
    waiting.push_back({worker, ParameterServers::WeightsTag(round_)});
  }
  if (!waiting.empty()) return waiting;
  for (const Rank worker : missing_) {
    waiting.push_back({worker, ParameterServers::GradientTag(stepped_)});
  }
  return waiting;
}

std::vector<Rank> PsServer::Peers(Round, Round) const {
  std::vector<Rank> peers(servers_.workers());
  std::iota(peers.begin(), peers.end(), 0);
  return peers;
}

}  // namespace grapevine
