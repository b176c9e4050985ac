// D-PSGD: decentralized parallel SGD (Lian et al. 2017, arXiv:1705.09056, Algorithm 1).
//
// Two orders of the same step:
//   AWC (adapt while communicate, the paper's): x_i' = sum_j W_ij x_j - lr u(g_i(x_i)).
//     The replica travels while the gradient is computed at it, so that a round
//     takes max(compute, communication) + mix.
//   ATC (adapt then combine): x_i' = sum_j W_ij (x_j - lr u(g_j(x_j))).
//
// What travels when: algorithm/gossip/replica_exchange.h.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/gossip/replica_exchange.h"

namespace grapevine {

enum class DpsgdOrder { kAwc, kAtc };

class Dpsgd final : public Algorithm {
 public:
  Dpsgd(DpsgdOrder order, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return exchange_.waiting(!in_round_); }
  std::vector<Rank> Peers(Round from, Round to) const override { return exchange_.Peers(from, to); }

 private:
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnLimit(const RoundLimit& event, Host& host);

  void BeginRound(Host& host);
  void Share(Host& host) { exchange_.Share(replica_, {}, host); }
  Vec StepOverGradient(std::span<const Term> mix, Host& host);
  void AdaptBeforeCombine(Host& host);
  void EndRoundIfComplete(Host& host);
  void RestIfDone(Host& host);

  const DpsgdOrder order_;
  const AlgorithmOptions options_;
  ReplicaExchange exchange_;

  Vec replica_;  // x_i; under ATC the adapted one between gradient and mix
  Vec gradient_;
  Vec optimizer_state_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  bool gradient_ready_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_
