// Synchronous parameter servers: x' = x - lr u((1/n) sum_i g_i(x)). The n workers compute
// gradients; the sum and the step are divided among servers.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_
#define GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_

#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/local/local_optimizer.h"
#include "algorithm/server/shard_layout.h"
#include "base/ids.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Tags of a worker's gradient of a round, which it sends to a server, and of the weights after that
// round, which the server sends back.
inline Tag GradientTag(Round round) { return {.channel = 0, .index = round, .step = 0}; }
inline Tag WeightsTag(Round round) { return {.channel = 0, .index = round, .step = 1}; }

// A worker computes its gradient at the weights, sends each server its range of the gradient, and
// goes on with the weights that come back. It keeps no state of the optimizer.
//
// The buffers for the weights are posted before the gradient is sent. A server therefore has the
// credit before its last gradient can arrive, and the credit costs no time. The old weights are
// dropped first, so that a worker holds two replicas: weights and gradient.
class PsWorker final : public Algorithm {
 public:
  PsWorker(ShardLayout shards, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  void OnLimit(const RoundLimit& event, Host& host);

  void BeginRound(Host& host);
  void PostWeights(Host& host);
  void SendGradient(Host& host);
  void EndRound(Host& host);
  void RestIfDone(Host& host);

  const ShardLayout shards_;
  const AlgorithmOptions options_;

  Vec weights_;  // of round_; of the next round while some are missing
  Vec gradient_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool computing_ = false;
  std::set<Rank> missing_;         // servers whose weights are on their way
  std::map<SendId, Rank> unsent_;  // servers that have not received their part of a gradient
};

// A server receives its range of each worker's gradient in every round, sums the gradients in
// ascending rank, lets the optimizer step, and sends the new weights to every worker.
//
// With S servers a round takes 2 (alpha + max(n/S M beta_server, M beta_worker)) in addition to the
// gradient. The round is over when the weights have left. The buffers for the next round's
// gradients are posted before that, so that credits cost no time.
//
// A server's memory, in vectors of its M/S elements: n gradients, the weights, the new weights, and
// the optimizer's state. No worker can make it hold more, since nothing arrives unless it was
// posted for. Buffers (batch statistics) are averaged with the gradients.
//
// A lost worker is missing from the mean, from the first round on in which a server has not had its
// gradient.
class PsServer final : public Algorithm {
 public:
  // `options.rank` must be a server's.
  PsServer(ShardLayout shards, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnLost(const Lost& event, Host& host);
  // Ends the post for a worker's gradient, which has arrived or is lost with the worker. Returns
  // false if the gradient is not awaited.
  bool EndPost(Rank worker, Tag tag);
  absl::Status OnLeft(const Left& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  absl::Status NotOnItsWay(SendId id) const;

  ReplicaRange Range(const Host& host) const;
  absl::Status OnStart(const Start& event, Host& host);
  // Posts buffers for the next gradients, unless they are posted or the end is reached.
  void PostGradients(Host& host);
  // Steps and sends the weights, once all gradients have arrived and the weights of the previous
  // round have left.
  void StepIfComplete(Host& host);
  void Step(Host& host);
  void SendWeights(Host& host);
  void EndRound(Host& host);
  void RestIfDone(Host& host);

  const ShardLayout shards_;
  const AlgorithmOptions options_;

  Vec weights_;
  OptimizerState optimizer_;
  std::vector<Vec> gradients_;  // by worker; empty while none are posted; no vector: lost

  Round round_ = 0;
  Round stepped_ = 0;  // rounds whose step is done; gradients_ belong to this round
  Round limit_ = 0;
  bool started_ = false;
  std::set<Rank> missing_;          // workers whose gradient has not arrived
  std::map<SendId, Rank> leaving_;  // workers to which the weights of round_ have not left
  std::map<SendId, Rank> unsent_;   // workers that have not received weights sent to them
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVER_H_
