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
// No node begins a round at or past that limit (RoundLimit). So whoever asks for a round that a
// node has begun or completed gets the same answer on every node, at any time (RunCourse). Other
// runs are settled from the start.
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

// Each run has its own; its nodes on other machines have copies that rank 0 keeps up to date.
//
// Thread-safe.
class RunCourse {
 public:
  // `rate` by first batches (optim/batch_schedule.h).
  RunCourse(RunPlan plan, Schedule rate);

  // What is known so far.
  RunPlan plan() const;
  // In the rounds that are not settled, below `limit`, the batch is `growth` first ones: not less
  // than in the last round that is settled. Does nothing where these rounds are settled already.
  void Settle(Round limit, int64_t growth);

  // An open-ended run has so many rounds, of which no node has completed the last.
  void Close(Round rounds);

  // A node begins this view: the run is that of its members from its first round on. Does nothing
  // where that is known, from another node or as it is the first view; nor where a checkpoint's
  // view has the same members as the one before.
  void GoOn(const View& view);
  // So many workers train from this round on; for a run that goes on, before it does.
  void Among(Round from, Rank workers);
  // The view after that of this epoch, as soon as a node has begun it.
  std::optional<View> ViewAfter(uint32_t epoch) const;

  // Those that were begun, after the first, ascending.
  std::vector<View> views() const;

  // Of rounds that are settled: what a worker's gradient of this round is the mean of.
  Passes PassesIn(Round round) const;
  double LearningRate(Round round) const;
  // After so many rounds. As RunPlan's.
  bool Evaluated(Round completed) const;
  bool Measured(Round completed) const;
  // The point in the training at which so many rounds are completed.
  TrainingPoint At(Round completed) const;

 private:
  const Schedule rate_;
  mutable Mutex mutex_;
  RunPlan plan_ ABSL_GUARDED_BY(mutex_);
  Round settled_ ABSL_GUARDED_BY(mutex_);            // the rounds below are
  std::vector<View> views_ ABSL_GUARDED_BY(mutex_);  // after the first, ascending
};

// How far the run goes, as far as that is known.
//
// Thread-compatible: rank 0's, told of all evaluations in order.
class RunHorizon {
 public:
  // Settles `course`, which outlives it, as evaluations come. Without an `accuracy` (a fraction)
  // there is no target. `settles_last`: the run has not ended before its last evaluation, which
  // lost nodes may keep from coming, so that it is asked for again; until then, all are there for
  // one that is behind.
  RunHorizon(std::optional<double> accuracy, RunCourse* course, bool settles_last = false);

  // The rounds that may begin before the result of the next evaluation is known: all of them if
  // nothing depends on it.
  Round limit() const { return limit_; }
  // Where the batch grows at plateaus: that of the last rounds below the limit, in first ones
  // (optim/batch_schedule.h); else 0.
  int64_t growth() const { return plateau_ ? growth_ : 0; }
  // Whether the run ends at `limit`.
  bool final() const {
    return !open_ended_ && (reached_ || limit_ >= rounds_) &&
           (!settles_last_ || evaluated_ >= limit_);
  }
  bool reached() const { return reached_; }

  // Whether there is a target and a model of this accuracy meets it.
  bool Met(const std::optional<double>& test_accuracy) const;

  // An open-ended run has so many rounds.
  void Close(Round rounds);
  // Another has had evaluations before, and moved the limit so far by them, without meeting the
  // target. Not where the batch grows at plateaus.
  void CatchUp(Round limit);

  // Moves the limit according to an evaluation; returns whether it may have changed.
  bool OnEvaluation(const EvaluationRecord& evaluation);

 private:
  // To the next evaluation, with batches of growth_ until there.
  void Advance();

  const std::optional<double> accuracy_;
  RunCourse* const course_;
  const bool settles_last_;
  bool open_ended_ = false;
  std::optional<PlateauWatch> plateau_;
  int64_t factor_ = 1;
  int64_t growth_ = 1;
  Round rounds_ = 0;  // that the run has if nothing else is decided
  Round limit_ = 0;
  Round evaluated_ = 0;  // the last one
  bool reached_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_
