// The state of a node's local optimizer from a start on, and how many steps it has taken: one in
// every round.
//
// Thread-safety: as its owner's.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_OPTIMIZER_STATE_H_
#define GRAPEVINE_ALGORITHM_LOCAL_OPTIMIZER_STATE_H_

#include "algorithm/host.h"
#include "algorithm/state_visitor.h"

namespace grapevine {

class OptimizerState {
 public:
  // Zeroed, for a range of the replica; its first step is that of `round`.
  void Start(ReplicaRange range, Round round, Host& host) {
    vector_ = host.NewOptimizerState(range);
    begun_ = round;
  }
  void VisitState(StateVisitor& state) {
    state.Vector("optimizer", vector_);
    state.Rounds("optimizer.begun", &begun_);
  }

  Vec vector() const { return vector_; }
  // StepRequest::step of a round.
  int64_t StepIn(Round round) const { return round - begun_; }

 private:
  Vec vector_;
  Round begun_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OPTIMIZER_STATE_H_
