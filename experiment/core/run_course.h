// A run's plan while the run lasts: which of its rounds are settled, and what is known of them.
//
// Where the batch grows at plateaus, what becomes of a round follows from evaluations. They settle
// the rounds up to a limit, one evaluation ahead of the nodes (run_horizon.h), and no node begins a
// round at or past that limit (RoundLimit). So whoever asks for a round that a node has begun or
// completed gets the same answer on every node, at any time. Other runs are settled from the start.
//
// Each run has its own; its nodes on other machines have copies that rank 0 keeps up to date.
//
// Thread-safe.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithm/view.h"
#include "base/ids.h"
#include "base/passes.h"
#include "experiment/core/run_plan.h"
#include "optim/schedule.h"
#include "run/records/measurement.h"
#include "system/mutex.h"

namespace grapevine {

class RunCourse {
 public:
  // `rate` by first batches (optim/batch_schedule.h).
  RunCourse(RunPlan plan, Schedule rate);

  // What is known so far.
  RunPlan plan() const;
  // In the rounds that are not settled, below `limit`, the batch is `growth` first ones: not less
  // than in the last round that is settled. Does nothing where these rounds are settled already.
  void Settle(Round limit, int64_t growth);

  // A node begins this view: the run is that of its members from its first round on. Does nothing
  // where that is known, from another node or as it is the first view.
  void GoOn(const View& view);
  // The view after that of this epoch, as soon as a node has begun it.
  std::optional<View> ViewAfter(uint32_t epoch) const;

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

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_COURSE_H_
