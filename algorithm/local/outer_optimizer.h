// A slow optimizer around the local steps: at an exchange it moves the point from which the local
// steps began (the anchor) by what they have changed on average, with a momentum of its own.
//
// Every rule of this kind is linear:
//   m  <- keep m + anchor_to_momentum a + average_to_momentum avg
//   a' <- anchor_to_anchor a + average_to_anchor avg + momentum_to_anchor m
// with the anchor a and the average avg of the nodes' replicas. It holds for parameters alone: a
// batch-norm statistic is the plain average, which no formula could make negative.
//
// Memory: two replicas, anchor and momentum.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_OUTER_OPTIMIZER_H_
#define GRAPEVINE_ALGORITHM_LOCAL_OUTER_OPTIMIZER_H_

#include <functional>
#include <utility>

#include "algorithm/local/outer_step.h"

namespace grapevine {

struct OuterCoefficients {
  double keep = 0;
  double anchor_to_momentum = 0;
  double average_to_momentum = 0;
  double anchor_to_anchor = 0;
  double average_to_anchor = 0;
  double momentum_to_anchor = 0;
};

struct OuterRule {
  // The step of an exchange in a round of this learning rate.
  std::function<OuterCoefficients(double learning_rate)> step;
  // What is averaged is a replica + so many times its anchor.
  double anchor_in_share = 0;
};

class OuterOptimizer final : public OuterStep {
 public:
  static constexpr int kVectors = 2;  // that it keeps

  explicit OuterOptimizer(OuterRule rule) : rule_(std::move(rule)) {}

  void Start(Vec replica, Host& host) override;
  void VisitState(StateVisitor& state, Host& host) override;
  void Prepare(Vec replica, Host& host) override;
  Averaging::Terms Replace(Vec replica, const Averaging::Terms& average, double learning_rate,
                           Host& host) override;

 private:
  Vec NewMomentum(Host& host) const;

  const OuterRule rule_;
  Vec anchor_;
  Vec momentum_;  // of the parameters; none before the first step
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OUTER_OPTIMIZER_H_
