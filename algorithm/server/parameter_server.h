// Synchronous parameter servers: x' = x - lr u((1/n) sum_i g_i(x)), where n is the number of
// workers, which compute gradients; the sum and the step are divided among servers.
//
// The last S of n nodes are servers, the others are workers, so that rank 0 is a worker. Server
// s keeps the elements [s M/S, (s+1) M/S) of a replica of M elements, parameters and buffers; M
// may be smaller than S.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_
#define GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_

#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "base/spec.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Which ranks are servers, which range of the replica each keeps, and how messages are named:
// what workers and servers must agree on. A value: safe from any thread.
class ParameterServers {
 public:
  // "ps:servers=S" (1 is the default) among `nodes`. Errors name the spec and a number that
  // works.
  static absl::StatusOr<ParameterServers> Parse(const Spec& spec, Rank nodes);

  Rank workers() const { return workers_; }
  Rank servers() const { return servers_; }
  bool IsServer(Rank rank) const { return rank >= workers_; }
  // The rank of server `index`, which counts from 0.
  Rank ServerRank(Rank index) const { return workers_ + index; }
  // The range that server `index` keeps of a replica of `size` elements.
  ReplicaRange Shard(Rank index, int64_t size) const {
    const int64_t begin = size * index / servers_;
    return {begin, size * (index + 1) / servers_ - begin};
  }

  // A worker's gradient of a round, to a server; the weights after it, back.
  static Tag GradientTag(Round round) { return {kChannel, round, 0}; }
  static Tag WeightsTag(Round round) { return {kChannel, round, 1}; }

 private:
  static constexpr uint16_t kChannel = 0;

  ParameterServers(Rank workers, Rank servers) : workers_(workers), servers_(servers) {}

  Rank workers_;
  Rank servers_;
};

// A worker: computes its gradient at the weights, sends each server its range of it, and goes
// on with the weights that come back. It keeps no state of the optimizer.
//
// The buffers for the weights are posted before the gradient is sent. So a server has the
// credit before its last gradient can arrive, and the credit costs no time; and the old weights
// are dropped first, so that a worker holds two replicas: weights and gradient.
class PsWorker final : public Algorithm {
 public:
  PsWorker(ParameterServers servers, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  void OnLimit(const RoundLimit& event, Host& host);

  void BeginRound(Host& host);
  void PostWeights(Host& host);
  void SendGradient(Host& host);
  void EndRound(Host& host);
  void RestIfDone(Host& host);

  const ParameterServers servers_;
  const AlgorithmOptions options_;

  Vec weights_;  // of round_; while any of it is missing: of the next
  Vec gradient_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool computing_ = false;
  std::set<Rank> missing_;         // servers whose weights are on their way
  std::map<SendId, Rank> unsent_;  // servers that have not received their part of a gradient
};

// A server: in every round it receives its range of each worker's gradient, sums them in
// ascending rank, lets the optimizer step, and sends the new weights to every worker.
//
// With S servers a round takes 2 (alpha + max(n/S M beta_server, M beta_worker)) beside the
// gradient. It is over when the weights have left. The buffers for the next round's gradients
// are posted before that, so that credits cost no time.
//
// Memory, in its M/S elements: n gradients, the weights, the new weights, and the optimizer's
// state; no worker can make it hold more, since nothing arrives unless it was posted for.
// Buffers (batch statistics) are averaged with the gradients.
class PsServer final : public Algorithm {
 public:
  // `options.rank` is a server's.
  PsServer(ParameterServers servers, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnLeft(const Left& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  absl::Status NotOnItsWay(SendId id) const;

  ReplicaRange Range(const Host& host) const;
  void OnStart(Host& host);
  // Posts buffers for the next gradients, unless that is done or the end is reached.
  void PostGradients(Host& host);
  // Once all gradients are here and the weights of the previous round have left.
  void StepIfComplete(Host& host);
  void Step(Host& host);
  void SendWeights(Host& host);
  void EndRound(Host& host);
  void RestIfDone(Host& host);

  const ParameterServers servers_;
  const AlgorithmOptions options_;

  Vec weights_;
  Vec optimizer_state_;
  std::vector<Vec> gradients_;  // by worker; empty when none are posted

  Round round_ = 0;
  Round stepped_ = 0;  // rounds whose step is done: gradients are of this one
  Round limit_ = 0;
  bool started_ = false;
  std::set<Rank> missing_;          // workers whose gradient is not here
  std::map<SendId, Rank> leaving_;  // workers to which the weights of round_ have not left
  std::map<SendId, Rank> unsent_;   // workers that have not received weights sent to them
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_
