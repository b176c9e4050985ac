// A run's plan while the run lasts: which of its rounds are settled, what is known of them, and how
// evaluations settle the next ones.
//
// A run may depend on its own evaluations: --target-accuracy ends it, --batch-schedule=plateau lets
// its batch grow. What an evaluation decides takes effect at the next one. So when its result is
// known, the rounds up to the second evaluation after it are settled, and they are all that may
// begin: the end of the run, as far as it is known, moves one evaluation at a time (RunHorizon). No
// real node waits for an evaluation that takes no longer than the rounds until the next one; what a
// run does is a function of its evaluations alone; and it continues for at most one interval after
// its target is reached. The evaluation that met the target is the one that counts.
//
// No node begins a round at or past that limit (RoundLimit). So RunCourse gives the same answer on
// every node, at any time, about a round that the node has begun or completed. Runs that do not
// depend on their evaluations are settled from the start.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithm/view.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "experiment/core/run_plan.h"
#include "optim/batch_schedule.h"
#include "optim/learning_rate.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"
#include "system/mutex.h"

namespace grapevine {

// The course of one run. The nodes on other machines have copies of it, which rank 0 keeps up to
// date.
//
// Thread-safe.
class RunCourse {
 public:
  // `rate` is a function of first batches (optim/batch_schedule.h).
  RunCourse(RunPlan plan, Schedule rate);

  // Returns the plan, as far as it is known.
  RunPlan plan() const;
  // Settles the rounds below `limit`. In those of them that are not settled yet, the batch is
  // `growth` first batches, which must not be less than in the last settled round. Does nothing if
  // all these rounds are settled already.
  void Settle(Round limit, int64_t growth);

  // Gives an open-ended run this number of rounds, of which no node may have completed the last.
  void Close(Round rounds);

  // Records that a node begins this view: from the first round of the view on, the run is that of
  // its members. Does nothing if the view is known, because another node has begun it or because it
  // is the first view, or if it is a checkpoint's view with the members of the view before.
  void GoOn(const View& view);
  // Records that this many workers train from this round on. For a run that goes on; must be
  // called before it does.
  void Among(Round from, Rank workers);
  // Returns the view after that of this epoch, as soon as a node has begun it.
  std::optional<View> ViewAfter(uint32_t epoch) const;

  // Returns the views that have begun, without the first view, in ascending order.
  std::vector<View> views() const;

  // Return the passes whose mean is a worker's gradient of this round, and the learning rate of the
  // round. The round must be settled.
  Passes PassesIn(Round round) const;
  double LearningRate(Round round) const;
  // Whether the run is evaluated, and whether it is measured, after this number of rounds; see
  // RunPlan.
  bool Evaluated(Round completed) const;
  bool Measured(Round completed) const;
  // Returns the point in the training at which this number of rounds is completed.
  TrainingPoint At(Round completed) const;

 private:
  const Schedule rate_;
  mutable Mutex mutex_;
  RunPlan plan_ ABSL_GUARDED_BY(mutex_);
  Round settled_ ABSL_GUARDED_BY(mutex_);            // the rounds below this one are settled
  std::vector<View> views_ ABSL_GUARDED_BY(mutex_);  // views after the first, in ascending order
};

// How far the run goes, as far as that is known. Rank 0 has a horizon, which it must tell of all
// evaluations in order.
//
// Thread-compatible.
class RunHorizon {
 public:
  // Settles `course`, which must outlive the horizon, as evaluations come. The run has no target
  // without an `accuracy` (a fraction). With `settles_last`, the run does not end before its last
  // evaluation. Lost nodes may prevent that evaluation, which is then asked for again; until it has
  // come, all nodes stay for a node that is behind.
  RunHorizon(std::optional<double> accuracy, RunCourse* course, bool settles_last = false);

  // The number of rounds that may begin before the result of the next evaluation is known: all
  // rounds if nothing depends on it.
  Round limit() const { return limit_; }
  // The batch of the last rounds below the limit, in first batches (optim/batch_schedule.h), if the
  // batch grows at plateaus; otherwise 0.
  int64_t growth() const { return plateau_ ? growth_ : 0; }
  // Whether the run ends at `limit`.
  bool final() const {
    return !open_ended_ && (reached_ || limit_ >= rounds_) &&
           (!settles_last_ || evaluated_ >= limit_);
  }
  bool reached() const { return reached_; }

  // Whether the run has a target, and a model of this accuracy meets it.
  bool Met(const std::optional<double>& test_accuracy) const;

  // Gives an open-ended run this number of rounds.
  void Close(Round rounds);
  // Moves the limit to where another node has moved it by earlier evaluations that did not meet the
  // target. Must not be called if the batch grows at plateaus.
  void CatchUp(Round limit);

  // Moves the limit according to an evaluation. Returns whether the limit may have changed.
  bool OnEvaluation(const EvaluationRecord& evaluation);

 private:
  // Moves the limit to the next evaluation, with batches of growth_ up to there.
  void Advance();

  const std::optional<double> accuracy_;
  RunCourse* const course_;
  const bool settles_last_;
  bool open_ended_ = false;
  std::optional<PlateauWatch> plateau_;
  int64_t factor_ = 1;
  int64_t growth_ = 1;
  Round rounds_ = 0;  // rounds of the run if nothing else is decided
  Round limit_ = 0;
  Round evaluated_ = 0;  // round of the last evaluation
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_
