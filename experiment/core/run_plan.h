// How long a run is and how its batch grows, from its settings and the size of its data set: the
// one place where rounds become samples, for nodes, simulator, measurements and schedules.
//
// Thread-safety: values and pure functions.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/passes.h"
#include "model/data/dataset.h"
#include "optim/batch_schedule.h"
#include "optim/run_position.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The samples that all workers together see in round 0.
int64_t FirstGlobalBatch(const Config& config, Rank workers);

struct RunPlan {
  // In rounds of the first batch; without data, epochs are such rounds, too.
  RunExtent extent;
  BatchSchedule batches;
  Round rounds = 0;    // that they are in fact
  int64_t passes = 1;  // of --batch samples in a round of the first batch: --accumulate
  // What a node's gradient of `round` is the mean of.
  Passes PassesIn(Round round) const {
    return {.first = passes * batches.Before(round), .count = passes * batches.Growth(round)};
  }
  // That a gradient is ever the mean of.
  int64_t MostPasses() const { return passes * batches.LargestGrowth(); }
};

// `data`: null for a model without. Errors are kUsage and name the flag.
absl::StatusOr<RunPlan> PlanRun(const Config& config, Rank workers, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_PLAN_H_
