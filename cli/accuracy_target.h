// --target-accuracy: the end of a run that nobody knows beforehand.
//
// The end is known one evaluation ahead: no real node waits for an evaluation, and a run
// goes on for at most one interval once the target is reached. What counts is the
// evaluation that met it.
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

  // Whether a model of this accuracy meets the target, where there is one.
  bool Met(const std::optional<double>& test_accuracy) const;

  // Moves the limit by what an evaluation says; whether it may have changed.
  bool OnEvaluation(const ModelEvaluation& evaluation);

 private:
  const Experiment* const experiment_;
  Round limit_;
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_ACCURACY_TARGET_H_
