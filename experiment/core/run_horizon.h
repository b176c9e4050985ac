// A run that depends on its own evaluations: --target-accuracy ends it, --batch-schedule=plateau
// lets its batch grow.
//
// What an evaluation decides takes effect at the next one. So when its result is known, the rounds
// up to the second evaluation after it are settled, and they are all that may begin: the end of the
// run, as far as it is known, moves one evaluation at a time. No real node waits for an evaluation
// that takes no longer than the rounds until the next one; what a run does is a function of its
// evaluations alone; and it continues for at most one interval after its target is reached. The
// evaluation that met the target is the one that counts.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_HORIZON_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_HORIZON_H_

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "experiment/core/run_course.h"
#include "optim/plateau.h"
#include "run/records/metrics.h"

namespace grapevine {

// Thread-compatible: rank 0's, told of all evaluations in order.
class RunHorizon {
 public:
  // Settles `course`, which outlives it, as evaluations come. Without an `accuracy` (a fraction)
  // there is no target. `settles_last`: the run has not ended before its last evaluation, which
  // lost nodes may keep from coming, so that it is asked for again.
  RunHorizon(std::optional<double> accuracy, RunCourse* course, bool settles_last = false);

  // The rounds that may begin before the result of the next evaluation is known: all of them if
  // nothing depends on it.
  Round limit() const { return limit_; }
  // Where the batch grows at plateaus: that of the last rounds below the limit, in first ones
  // (optim/batch_schedule.h); else 0.
  int64_t growth() const { return plateau_ ? growth_ : 0; }
  // Whether the run ends at `limit`.
  bool final() const {
    return reached_ || (limit_ >= rounds_ && (!settles_last_ || evaluated_ >= limit_));
  }
  bool reached() const { return reached_; }

  // Whether there is a target and a model of this accuracy meets it.
  bool Met(const std::optional<double>& test_accuracy) const;

  // Moves the limit according to an evaluation; returns whether it may have changed.
  bool OnEvaluation(const EvaluationRecord& evaluation);

 private:
  // To the next evaluation, with batches of growth_ until there.
  void Advance();

  const std::optional<double> accuracy_;
  RunCourse* const course_;
  const bool settles_last_;
  std::optional<PlateauWatch> plateau_;
  int64_t factor_ = 1;
  int64_t growth_ = 1;
  Round rounds_ = 0;  // that the run has if nothing else is decided
  Round limit_ = 0;
  Round evaluated_ = 0;  // the last one
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_HORIZON_H_
