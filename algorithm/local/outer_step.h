// What becomes of an average where it does not simply take the replica's place: an outer
// optimizer's step (outer_optimizer.h), an elastic pull (elastic_centre.h).
//
// Thread-safety: as its owner's.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_
#define GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_

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
  // Makes of a replica that nobody else reads what is averaged.
  virtual void Prepare(Vec replica, Host& host) {}
  // What takes the replica's place, as a sum of vectors.
  virtual Averaging::Terms Replace(Vec replica, const Averaging::Terms& average,
                                   double learning_rate, Host& host) = 0;
  // The replica has been replaced.
  virtual void End(const Averaging::Terms& average, double learning_rate, Host& host) {}
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OUTER_STEP_H_
