// Push-sum averages, over which stochastic gradient push steps (SGP; Assran et al. 2019,
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
// have given most of its weight away before any came back, and lr / w would explode.) What is in
// flight at a boundary is part of the node's state that is to receive it.
//
// Memory: (t + 1) times the largest in-degree of neighbours' replicas, t + 1 of the node's own
// that may still be on their way, and three: model, gradient, optimizer's state.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_PUSH_SUM_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_PUSH_SUM_AVERAGING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/gossip/neighbour_averaging.h"

namespace grapevine {

class PushSumAveraging final : public NeighbourAveraging {
 public:
  // In every round; `overlap` in rounds.
  PushSumAveraging(Round overlap, AlgorithmOptions options);

  void Start(Round round, Vec replica, Host& host) override;
  void VisitState(StateVisitor& state) override;
  void Begin(Vec own, Host& host) override { Share(own, {.weight = weight_}, host); }
  using NeighbourAveraging::On;
  absl::Status On(const Received& event, Host& host) override;
  absl::StatusOr<Terms> Take(Host& host) override;
  void End(Host& host) override;

  // w_i.
  double weight() const override { return weight_; }

 private:
  // w of a rank where a start is in `round`.
  double InitialWeight(Rank rank, Round round) const;
  // w_i'.
  double NextWeight() const;

  const Round overlap_;
  const AlgorithmOptions options_;
  double weight_ = 1;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_PUSH_SUM_AVERAGING_H_
