// The step that makes a replica of an average, where the average does not simply take the replica's
// place: an outer optimizer's step, an elastic pull (elastic_centre.h).
//
// Thread-safety: that of its owner.
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

  // Begins at `replica`. Called once.
  virtual void Start(Vec replica, Host& host) = 0;
  // Shows `state` everything that is kept between rounds; see Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state, Host& host) = 0;
  // Sets the number of replicas in the next average.
  virtual void Among(Rank replicas) {}
  // Turns a replica that no other code reads into what is averaged.
  virtual void Prepare(Vec replica, Host& host) {}
  // Returns what takes the replica's place, as a sum of vectors.
  virtual Averaging::Terms Replace(Vec replica, const Averaging::Terms& average,
                                   double learning_rate, Host& host) = 0;
  // Called once the replica has been replaced.
  virtual void End(const Averaging::Terms& average, double learning_rate, Host& host) {}
};

// The rule of an outer optimizer, which is linear:
//   m  <- keep m + anchor_to_momentum a + average_to_momentum avg
//   a' <- anchor_to_anchor a + average_to_anchor avg + momentum_to_anchor m
// with the anchor a and the average avg of the nodes' replicas. The rule holds for parameters
// alone: a batch-norm statistic is the plain average, so that no formula can make it negative.
struct OuterCoefficients {
  double keep = 0;
  double anchor_to_momentum = 0;
  double average_to_momentum = 0;
  double anchor_to_anchor = 0;
  double average_to_anchor = 0;
  double momentum_to_anchor = 0;
};

struct OuterRule {
  // Returns the coefficients of an exchange in a round with this learning rate.
  std::function<OuterCoefficients(double learning_rate)> step;
  // The nodes average replica + anchor_in_share * anchor.
  double anchor_in_share = 0;
};

// A slow optimizer around the local steps: at an exchange it moves the point from which the local
// steps began (the anchor) by the average change that they made, with a momentum of its own.
//
// Memory: two replicas, anchor and momentum.
class OuterOptimizer final : public OuterStep {
 public:
  static constexpr int kVectors = 2;  // the number of vectors that it keeps

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
  Vec momentum_;  // for the parameters; none before the first step
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_
