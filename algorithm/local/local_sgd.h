// Stochastic gradient steps at every node, and in some rounds an average of the nodes' replicas:
// D-PSGD, push-sum, local SGD, model averaging and their outer optimizers. They differ in the nodes
// that average (averaging.h), in the rounds in which they do (local_steps.h), in the order of step
// and average, and in what becomes of the average (outer_step.h).
//
//   kAwc (adapt while communicate): x_i' = avg_j x_j - lr u(g_i(x_i)). The replica travels while
//     the gradient is computed at it: a round takes max(compute, communication) + mix.
//   kAtc (adapt then combine): x_i' = avg_j (x_j - lr u(g_j(x_j))).
// In a round without an exchange x_i' = x_i - lr u(g_i(x_i)).
//
// The local optimizer's state (momentum) is never exchanged: each node keeps its own.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_LOCAL_SGD_H_
#define GRAPEVINE_ALGORITHM_LOCAL_LOCAL_SGD_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/local/averaging.h"
#include "algorithm/local/local_optimizer.h"
#include "algorithm/local/local_steps.h"
#include "algorithm/local/outer_step.h"

namespace grapevine {

enum class StepOrder { kAwc, kAtc };

struct LocalSgdParts {
  // Must be kAtc if the average or the outer step writes the replica.
  StepOrder order = StepOrder::kAtc;
  LocalSteps steps = LocalSteps();
  std::unique_ptr<Averaging> averaging;        // takes place in the rounds of `steps`
  std::unique_ptr<OuterStep> outer = nullptr;  // null: the average takes the replica's place
};

class LocalSgd final : public Algorithm {
 public:
  LocalSgd(LocalSgdParts parts, LearningRate learning_rate);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return parts_.averaging->gives_way(); }
  void GiveUp(Host& host) override;
  Vec Settle(Vec model, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override {
    return parts_.averaging->Peers(from, to);
  }

  // Returns Averaging::weight.
  double weight() const { return parts_.averaging->weight(); }

 private:
  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  void OnLimit(const RoundLimit& event, Host& host);

  bool exchanges() const { return parts_.steps.ExchangeIn(round_); }
  void BeginRound(Host& host);
  double StepSize() const { return learning_rate_(round_) / weight(); }
  // Returns the mix less the optimizer's step, in the gradient's memory, which saves a vector at
  // the peak.
  Vec StepOverGradient(std::span<const Term> mix, Host& host);
  void StepAlone(Host& host);
  absl::Status EndRoundIfComplete(Host& host);
  // Puts the average, or what the outer step makes of it, in the replica's place.
  absl::Status TakeAverage(Host& host);
  void RestIfDone(Host& host);
  void RestIfGivenUp(Host& host);

  LocalSgdParts parts_;
  const LearningRate learning_rate_;

  Vec replica_;  // x_i; with kAtc, the stepped replica between gradient and average
  Vec gradient_;
  OptimizerState optimizer_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  bool gradient_ready_ = false;
  bool stepped_ = false;  // with kAtc: this round's step has been taken, and waits for the average
  bool given_up_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_LOCAL_SGD_H_
