// A worker of the synchronous parameter server: computes its gradient at the
// weights, sends each server its range of it, and goes on with the weights that
// come back. It keeps no state of the optimizer.
//
// The places for the weights are posted before the gradient is sent. So the
// credit is with a server before the last gradient for it can be, and costs no
// time; and the old weights are given up first, so that a worker holds two
// replicas: weights and gradient.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PS_WORKER_H_
#define GRAPEVINE_ALGORITHM_SERVER_PS_WORKER_H_

#include <set>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/server/parameter_servers.h"

namespace grapevine {

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
  std::set<Rank> missing_;   // servers whose weights are on their way
  std::set<SendId> unsent_;  // gradients that have not left yet
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PS_WORKER_H_
