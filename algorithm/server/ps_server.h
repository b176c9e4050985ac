// A synchronous parameter server: x' = x - lr u((1/n) sum_i g_i(x)) over its range
// of the replica, n being the number of workers. In every round it receives that
// range of each worker's gradient, sums them in ascending rank, lets the optimizer
// step, and sends the new weights to every worker.
//
// With S servers a round takes 2 (alpha + max(n/S M beta_server, M beta_worker))
// beside the gradient. It is over when the weights have left. The places for the
// next round's gradients are posted before, so that credits cost no time.
//
// Memory, in its M/S elements: n gradients, the weights, the new weights, and the
// optimizer's state; no worker can make it hold more, since nothing arrives
// unposted. Buffers (batch statistics) are averaged with the gradients.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PS_SERVER_H_
#define GRAPEVINE_ALGORITHM_SERVER_PS_SERVER_H_

#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/server/parameter_servers.h"

namespace grapevine {

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
  absl::Status OnSent(const Sent& event, Host& host);

  ReplicaRange Range(const Host& host) const;
  void OnStart(Host& host);
  // Makes room for the next gradients, unless that is done or the end is reached.
  void PostGradients(Host& host);
  // Once all gradients are here and the weights of the round before have left.
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
  std::set<Rank> missing_;         // workers whose gradient is not here
  std::map<SendId, Rank> unsent_;  // workers to which the weights of round_ have not left
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PS_SERVER_H_
