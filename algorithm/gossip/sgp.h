// SGP: stochastic gradient push, SGD over push-sum averages (Assran et al. 2019,
// arXiv:1811.10792, Algorithm 1; overlap: appendix).
//
// On a directed graph nodes can send what others are to take of theirs, so that columns of P sum
// to 1, but not know what these take of others: rows do not. So a node has x_i and a weight w_i
// that goes the same way, and its model is the quotient z_i:
//
//   x_i' = sum_j P_ij (x_j - lr u(g_j(z_j))),  w_i' = sum_j P_ij w_j,  z_i = x_i / w_i.
//
// The sums of all x_i (but for gradients) and of all w_i are kept, and every z_i goes to their
// quotient, the mean. Where P is doubly stochastic all w_i stay 1: D-PSGD's ATC, with its bits.
//
// What is kept and sent is z, beside w, rather than x = w z:
//
//   y_i = z_i - (lr / w_i) u(g_i(z_i)),  z_i' = sum_j (P_ij w_j / w_i') y_j,
//
// the same rule with weights that sum to 1. So it takes no more memory than D-PSGD, no pass to
// divide, batch-norm statistics are averaged convexly, and a small w_i costs no precision. w
// travels in the note of a message.
//
// With an overlap of t rounds, replicas of round r are mixed in round r + t: a node goes on
// without those of the last t rounds. Each counts once, in its round, so that the order of
// events changes no bit. What is in flight has its share of the weight, w_i is so much less, and
// the sums include it. A run begins as if the initial model had been in flight: every node's
// weight and those of its t messages sum to 1. (If it began with nothing in flight, a node would
// have given most of its weight away before any came back, and lr / w would explode.)
//
// Memory: (t + 1) times the largest in-degree of neighbours' replicas, t + 1 of the node's own
// that may still be on their way, and three: model, gradient, optimizer's state.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_SGP_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_SGP_H_

#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/gossip/replica_exchange.h"

namespace grapevine {

class Sgp final : public Algorithm {
 public:
  // `overlap` in rounds.
  Sgp(Round overlap, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return exchange_.waiting(!in_round_); }
  std::vector<Rank> Peers(Round from, Round to) const override { return exchange_.Peers(from, to); }

  // w_i.
  double weight() const { return weight_; }

 private:
  void OnStart(Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnLimit(const RoundLimit& event, Host& host);

  // w of a rank before the first round.
  double InitialWeight(Rank rank) const;
  void BeginRound(Host& host);
  void StepAndShare(Host& host);
  absl::Status EndRoundIfComplete(Host& host);
  void RestIfDone(Host& host);

  const Round overlap_;
  const AlgorithmOptions options_;
  ReplicaExchange exchange_;

  Vec model_;  // z_i, and y_i between gradient and mix
  double weight_ = 1;
  Vec gradient_;
  Vec optimizer_state_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  bool gradient_ready_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_SGP_H_
