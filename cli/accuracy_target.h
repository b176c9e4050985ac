// --target-accuracy: the end of a run that nobody knows beforehand.
//
// The end is known one evaluation ahead: nobody waits for an evaluation, and the
// run goes on for at most one interval once the target is reached.
#ifndef GRAPEVINE_CLI_ACCURACY_TARGET_H_
#define GRAPEVINE_CLI_ACCURACY_TARGET_H_

#include <optional>

#include "cli/experiment.h"
#include "run/metrics.h"

namespace grapevine {

// Thread-compatible.
class AccuracyTarget {
 public:
  // `experiment` outlives this.
  explicit AccuracyTarget(const Experiment* experiment);

  // The rounds that may be begun before the first evaluation is there: all of
  // them when there is no target.
  Round limit() const { return limit_; }
  // Whether `limit` is where the run ends.
  bool final() const { return reached_ || limit_ >= experiment_->rounds(); }
  bool reached() const { return reached_; }

  // Moves the limit by what an evaluation says; whether it may have changed.
  bool OnEvaluation(const ModelEvaluation& evaluation);

 private:
  const Experiment* const experiment_;
  Round limit_;
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_ACCURACY_TARGET_H_
