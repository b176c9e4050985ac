#include "experiment/core/run_plan.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "base/status_macros.h"
#include "run/config/flag_error.h"

namespace grapevine {
namespace {

absl::StatusOr<BatchSchedule> ScheduleOf(const Config& config, const RunExtent& run) {
  absl::StatusOr<BatchSchedule> schedule = BatchSchedule::Make(config.batch_schedule(), run);
  if (schedule.ok()) return schedule;
  return NamingFlag("--batch-schedule", config.batch_schedule(), schedule.status());
}

// What a run of --rounds sees, in first batches. Where the batch grows at shares of the run, the
// one depends on the other: the fewest that take all the rounds.
absl::StatusOr<int64_t> SeenInRounds(const Config& config, RunExtent run) {
  constexpr int64_t kMost = int64_t{1} << 52;
  const auto enough = [&](int64_t first_batches) {
    run.rounds = first_batches;
    // A position past the end may be within a longer run.
    const absl::StatusOr<BatchSchedule> schedule = ScheduleOf(config, run);
    return schedule.ok() && schedule->RoundsFor(first_batches) >= config.rounds();
  };
  int64_t fewest = config.rounds(), most = fewest;
  while (!enough(most) && most < kMost) most *= 2;
  while (fewest < most) {
    const int64_t middle = fewest + (most - fewest) / 2;
    if (enough(middle)) {
      most = middle;
    } else {
      fewest = middle + 1;
    }
  }
  run.rounds = most;
  ASSIGN_OR_RETURN(const BatchSchedule schedule, ScheduleOf(config, run));
  return schedule.Before(config.rounds());
}

}  // namespace

int64_t FirstGlobalBatch(const Config& config, Rank workers) {
  return int64_t{config.batch()} * config.accumulate() * workers;
}

absl::StatusOr<RunPlan> PlanRun(const Config& config, Rank workers, const TrainTest* data) {
  RunPlan plan{.passes = config.accumulate()};
  RunExtent& run = plan.extent;
  if (data != nullptr) {
    run.rounds_per_epoch = static_cast<double>(data->train->size()) /
                           static_cast<double>(FirstGlobalBatch(config, workers));
  }
  if (config.has_rounds()) {
    ASSIGN_OR_RETURN(run.rounds, SeenInRounds(config, run));
  } else {
    run.rounds = static_cast<Round>(std::ceil(config.epochs() * run.rounds_per_epoch - 1e-9));
  }
  ASSIGN_OR_RETURN(plan.batches, ScheduleOf(config, run));
  plan.rounds = config.has_rounds() ? config.rounds() : plan.batches.RoundsFor(run.rounds);
  return plan;
}

}  // namespace grapevine
