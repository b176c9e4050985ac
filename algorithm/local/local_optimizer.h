// A node's local optimizer: its state (OptimizerState), and a step with it for methods without
// rounds (OwnStep).
//
// Thread-safety: that of its owner.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_LOCAL_OPTIMIZER_H_
#define GRAPEVINE_ALGORITHM_LOCAL_LOCAL_OPTIMIZER_H_

#include <utility>

#include "algorithm/algorithm.h"
#include "algorithm/host.h"
#include "algorithm/state_visitor.h"

namespace grapevine {

// The optimizer's state from a start on, and the number of steps that it has taken: one in every
// round.
class OptimizerState {
 public:
  // Begins with a zeroed state for a range of the replica; the first step is that of `round`.
  void Start(ReplicaRange range, Round round, Host& host) {
    vector_ = host.NewOptimizerState(range);
    begun_ = round;
  }
  void VisitState(StateVisitor& state) {
    state.Vector("optimizer", vector_);
    state.Rounds("optimizer.begun", &begun_);
  }

  Vec vector() const { return vector_; }
  // Returns StepRequest::step for a round.
  int64_t StepIn(Round round) const { return round - begun_; }

 private:
  Vec vector_;
  Round begun_ = 0;
};

// A node's step along its own gradient, x' = x - lr u(g), with its own optimizer: for methods
// without rounds whose nodes do not leave the steps to servers.
class OwnStep {
 public:
  explicit OwnStep(LearningRate learning_rate) : learning_rate_(std::move(learning_rate)) {}

  // Begins with step `step`.
  void Start(Round step, Host& host) { state_.Start(host.whole_replica(), step, host); }
  void VisitState(StateVisitor& state) { state_.VisitState(state); }
  // Returns the stepped model, in the gradient's memory, which saves a vector.
  Vec Take(Vec model, Vec gradient, Round step, Round nominal_round, Host& host);

 private:
  const LearningRate learning_rate_;
  OptimizerState state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_LOCAL_OPTIMIZER_H_
