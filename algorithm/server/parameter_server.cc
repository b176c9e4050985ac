#include "algorithm/server/parameter_server.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

std::string Count(int64_t number, const char* noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

Part Slice(Vec vector, ReplicaRange range) { return {vector, range.offset, range.size}; }

absl::StatusOr<std::unique_ptr<Algorithm>> MakePs(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const ParameterServers servers,
                   ParameterServers::Parse(spec, options.mixing->topology().size()));
  if (servers.IsServer(options.rank)) {
    return std::make_unique<PsServer>(servers, std::move(options));
  }
  return std::make_unique<PsWorker>(servers, std::move(options));
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, nodes));
  return servers.workers();
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, topology.size()));
  return 2.0 * servers.workers() * servers.servers();
}

absl::StatusOr<std::vector<ReplicaRange>> Shards(const Spec& spec, Rank nodes, int64_t size) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, nodes));
  std::vector<ReplicaRange> shards;
  for (Rank index = 0; index < servers.servers(); ++index) {
    shards.push_back(servers.Shard(index, size));
  }
  return shards;
}

// A worker's, or the largest server's, which has a buffer for every worker's gradient.
absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const ParameterServers servers, ParameterServers::Parse(spec, topology.size()));
  const int64_t shard = (size + servers.servers() - 1) / servers.servers();
  return std::max(2 * size, (servers.workers() + 2 + state_vectors) * shard);
}

std::vector<std::string> Advised(Rank nodes) {
  std::vector<std::string> specs;
  for (const Rank servers : std::set<Rank>{1, nodes / 4, nodes / 2}) {
    if (servers < 1 || servers >= nodes) continue;
    specs.push_back(absl::StrCat("ps:servers=", servers));
  }
  return specs;
}

const Registration kPs(
    Algorithms(),
    {.name = "ps",
     .options = "[:servers=S]",
     .help = "a synchronous parameter server: the last S ranks are servers, the others train",
     .examples = {"ps", "ps:servers=2"},
     .centralized = true,
     .make = MakePs,
     .workers = Workers,
     .messages = Messages,
     .step_ranges = Shards,
     .memory = Memory,
     .advised = Advised});

}  // namespace

absl::StatusOr<ParameterServers> ParameterServers::Parse(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  const int64_t servers = reader.Integer("servers", 1, 1, std::numeric_limits<Rank>::max());
  RETURN_IF_ERROR(reader.Finish());
  if (servers < nodes) return ParameterServers(nodes - static_cast<Rank>(servers), servers);
  std::string remedy = absl::StrCat("raise --nodes to at least ", servers + 1);
  if (nodes > 1) absl::StrAppend(&remedy, " or lower servers to at most ", nodes - 1);
  return SpecError(spec.text, absl::StrCat(Count(servers, "server"), " of ", Count(nodes, "node"),
                                           " leave no worker; --nodes counts both: ", remedy));
}

PsWorker::PsWorker(ParameterServers servers, AlgorithmOptions options)
    : servers_(servers), options_(std::move(options)) {}

absl::Status PsWorker::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (std::holds_alternative<Left>(event)) return absl::OkStatus();
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    OnLimit(*limit, host);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckForeseen(event));
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
    const SendId id = host.Send(server, ParameterServers::GradientTag(round_),
                                Slice(gradient_, servers_.Shard(index, host.replica_size())));
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
      waiting.push_back({server, ParameterServers::GradientTag(round_ - 1)});
    }
  }
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

PsServer::PsServer(ParameterServers servers, AlgorithmOptions options)
    : servers_(servers), options_(std::move(options)) {}

absl::Status PsServer::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* left = std::get_if<Left>(&event)) return OnLeft(*left, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) {
    return absl::InternalError(absl::StrCat("a gradient of round ", ready->round,
                                            " came to a parameter server, which asks for none"));
  }
  if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    limit_ = std::max(limit_, limit->limit);
    PostGradients(host);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckForeseen(event));
  OnStart(host);
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
  RestIfDone(host);
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
  if (gradients_.empty() || !missing_.empty() || !leaving_.empty()) return;
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
             .step = stepped_,
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
  // At the end of the run for receipt of the weights, before that only for them to leave.
  for (const auto& [id, worker] : round_ >= limit_ ? unsent_ : leaving_) {
    waiting.push_back({worker, ParameterServers::WeightsTag(stepped_ - 1)});
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
