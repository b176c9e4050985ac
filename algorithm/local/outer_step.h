// What becomes of an average where it does not simply take the replica's place: an outer
// optimizer's step, an elastic pull (elastic_centre.h).
//
// Thread-safety: as its owner's.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_
#define GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_

#include <functional>
#include <utility>

#include "algorithm/host.h"
#include "algorithm/local/averaging.h"

namespace grapevine {

class OuterStep {
 public:
  virtual ~OuterStep() = default;

  // Begins at `replica`; once.
  virtual void Start(Vec replica, Host& host) = 0;
  // As Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state, Host& host) = 0;
  // The next average is of so many replicas.
  virtual void Among(Rank replicas) {}
  // Makes of a replica that nobody else reads what is averaged.
  virtual void Prepare(Vec replica, Host& host) {}
  // What takes the replica's place, as a sum of vectors.
  virtual Averaging::Terms Replace(Vec replica, const Averaging::Terms& average,
                                   double learning_rate, Host& host) = 0;
  // The replica has been replaced.
  virtual void End(const Averaging::Terms& average, double learning_rate, Host& host) {}
};

// The rule of an outer optimizer, which is linear:
//   m  <- keep m + anchor_to_momentum a + average_to_momentum avg
//   a' <- anchor_to_anchor a + average_to_anchor avg + momentum_to_anchor m
// with the anchor a and the average avg of the nodes' replicas. It holds for parameters alone: a
// batch-norm statistic is the plain average, which no formula could make negative.
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

// A slow optimizer around the local steps: at an exchange it moves the point from which the local
// steps began (the anchor) by what they have changed on average, with a momentum of its own.
//
// Memory: two replicas, anchor and momentum.
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

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_
