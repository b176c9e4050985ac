#include "experiment/core/run_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "experiment/core/evaluation_times.h"
#include "model/problem/problem.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

// The default, unless --log-every is given.
constexpr double kMeasurementsPerEpoch = 20;
// The most samples of all nodes in a run: integers and doubles agree up to here.
constexpr int64_t kMostSamples = int64_t{1} << 53;
// The most passes of a gradient: they are computed in turn, and nothing interrupts them.
constexpr int64_t kMostPasses = 1'000'000;

absl::Status TooLong(const Config& config) {
  const std::string length = config.has_rounds() ? absl::StrCat("--rounds=", config.rounds())
                                                 : absl::StrCat("--epochs=", config.epochs());
  return UsageError(absl::StrCat(length, ": ", config.nodes(), " nodes compute more than ",
                                 kMostSamples,
                                 " samples, more than can be counted; make the run shorter, or "
                                 "lower --batch or --accumulate"));
}

absl::Status CheckLength(const Config& config, double first_batches) {
  const double samples = first_batches * config.nodes() * config.accumulate() * config.batch();
  return samples <= static_cast<double>(kMostSamples) ? absl::OkStatus() : TooLong(config);
}

absl::Status CheckPasses(const Config& config, const RunPlan& plan) {
  if (plan.MostPasses() <= kMostPasses) return absl::OkStatus();
  const bool grows = plan.batches.LargestGrowth() > 1;
  const std::string flag =
      config.accumulate() > 1 || !grows ? absl::StrCat("--accumulate=", config.accumulate()) : "";
  const std::string schedule =
      grows ? absl::StrCat("--batch-schedule=", config.batch_schedule()) : "";
  const bool both = !flag.empty() && grows;
  return UsageError(absl::StrCat(flag, both ? " with " : "", schedule, ": a step would take ",
                                 plan.MostPasses(), " gradients, and may take ", kMostPasses,
                                 "; lower ", both ? "either" : "it"));
}

absl::StatusOr<BatchSchedule> ScheduleOf(const Config& config, const RunExtent& run) {
  absl::StatusOr<BatchSchedule> schedule = BatchSchedule::Make(config.batch_schedule(), run);
  if (schedule.ok()) return schedule;
  return NamingFlag("--batch-schedule", config.batch_schedule(), schedule.status());
}

// Checks that the batch can grow within the run. That takes a first evaluation, `patience`
// evaluations without progress, and the evaluation at which the growth takes effect.
absl::Status CheckEvaluations(const Config& config, const RunPlan& plan) {
  const int64_t needed = plan.batches.plateau()->patience + 2;
  Round last = 0;
  for (int64_t evaluation = 0; evaluation < needed; ++evaluation) {
    if (last == plan.rounds) {
      return UsageError(
          absl::StrCat("--batch-schedule=", config.batch_schedule(), ": the batch can grow after ",
                       needed, " evaluations at the earliest, of which the run has ", evaluation,
                       "; lower --eval-every=", plan.evaluate_every / plan.extent.rounds_per_epoch,
                       ", or make the run longer"));
    }
    last = plan.NextEvaluation(last);
  }
  return absl::OkStatus();
}

absl::Status CheckPlateaus(const Config& config, const RunPlan& plan) {
  if (!plan.batches.plateau()) return absl::OkStatus();
  if (config.has_rounds()) {
    return UsageError(absl::StrCat(
        "--batch-schedule=", config.batch_schedule(), ": how many samples --rounds=",
        config.rounds(), " are is not known before the run; give its length in --epochs"));
  }
  RETURN_IF_ERROR(CheckLength(config, static_cast<double>(plan.rounds) *
                                          static_cast<double>(plan.batches.LargestGrowth())));
  return CheckEvaluations(config, plan);
}

// Returns what a run of --rounds sees, in first batches. If the batch grows at shares of the run,
// the rounds depend on the first batches; the result is then the fewest that take all the rounds.
absl::StatusOr<int64_t> SeenInRounds(const Config& config, RunExtent run) {
  RETURN_IF_ERROR(CheckLength(config, static_cast<double>(config.rounds())));
  const auto enough = [&](int64_t first_batches) {
    run.rounds = first_batches;
    // A position past the end may be within a longer run.
    const absl::StatusOr<BatchSchedule> schedule = ScheduleOf(config, run);
    return schedule.ok() && schedule->RoundsFor(first_batches) >= config.rounds();
  };
  int64_t fewest = config.rounds(), most = fewest;
  while (!enough(most) && most < kMostSamples) most *= 2;
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
  if (schedule.RoundsFor(most) < config.rounds()) return TooLong(config);
  return schedule.Before(config.rounds());
}

}  // namespace

int64_t FirstGlobalBatch(const Config& config, Rank workers) {
  return int64_t{config.batch()} * config.accumulate() * workers;
}

Rank PlannedNodes(const Config& config) {
  return config.has_planned_nodes() ? config.planned_nodes() : config.nodes();
}

Rank PlannedWorkers(const Config& config, Rank workers) {
  return std::max(1, workers + PlannedNodes(config) - config.nodes());
}

bool IsOpenEnded(const Config& config) {
  return config.model() == kOutsideModel && config.rounds() == kOpenEndedRounds;
}

double RunPlan::Seen(Round completed) const {
  const auto all = [this](Round from, Round to) {
    return static_cast<double>(batches.Before(to) - batches.Before(from));
  };
  double seen = 0, share = 1;
  Round from = 0;
  for (const Living& next : living) {
    if (next.from >= completed) break;
    seen += share * all(from, next.from);
    from = next.from;
    share = static_cast<double>(next.workers) / sharing;
  }
  return seen + share * all(from, completed);
}

RunPlan RunPlan::Among(Round from, Rank workers) const {
  RunPlan among = *this;
  if (sharing == 0) return among;
  std::vector<Living>& known = among.living;
  while (!known.empty() && known.back().from >= from) known.pop_back();
  known.push_back({from, workers});
  return among;
}

double RunPlan::MultiplesBy(Round completed) const {
  return std::floor((static_cast<double>(batches.Before(completed)) + 1e-9) / evaluate_every);
}

bool RunPlan::Evaluated(Round completed) const {
  if (evaluate_every == 0 || completed == 0) return false;
  if (completed == rounds) return true;
  return MultiplesBy(completed) > MultiplesBy(completed - 1);
}

bool RunPlan::Measured(Round completed) const {
  // Counting first batches gives every epoch as many measurements, however large the batch becomes.
  const bool due = measure_by_rounds ? completed % measure_every == 0
                                     : batches.Before(completed) / measure_every >
                                           batches.Before(completed - 1) / measure_every;
  return due || completed == rounds || Evaluated(completed);
}

int64_t RunPlan::EvaluationSamples(Round completed) const {
  return completed >= rounds ? 0 : evaluation_samples;
}

Round RunPlan::NextEvaluation(Round completed) const {
  if (evaluate_every == 0) return rounds;
  const double position = (MultiplesBy(completed) + 1) * evaluate_every;
  if (position >= static_cast<double>(extent.rounds)) return rounds;
  // This is exact but for rounding; Evaluated decides.
  Round next = batches.RoundsFor(std::llround(std::floor(position)));
  next = std::max(next, completed + 1);
  while (next < rounds && !Evaluated(next)) ++next;
  return std::min(next, rounds);
}

RunPlan RunPlan::Closed(Round closed) const {
  RunPlan plan = *this;
  plan.rounds = closed;
  plan.open_ended = false;
  return plan;
}

RunPlan RunPlan::Grown(Round from, int64_t growth) const {
  RunPlan grown = *this;
  grown.batches.GrowFrom(from, growth);
  grown.rounds = grown.batches.RoundsFor(extent.rounds);
  return grown;
}

absl::StatusOr<RunPlan> PlanRun(const Config& config, Rank present, const TrainTest* data) {
  const Rank workers = PlannedWorkers(config, present);
  RunPlan plan{.passes = config.accumulate()};
  RunExtent& run = plan.extent;
  RETURN_IF_ERROR(CheckLength(config, 1));
  if (data != nullptr) {
    if (HasRounds(config.algorithm())) plan.sharing = workers;
    run.rounds_per_epoch = static_cast<double>(data->train->size()) /
                           static_cast<double>(FirstGlobalBatch(config, workers));
  }
  plan.measure_by_rounds = config.log_every() > 0;
  plan.measure_every =
      plan.measure_by_rounds
          ? config.log_every()
          : std::max<int64_t>(1, std::llround(run.rounds_per_epoch / kMeasurementsPerEpoch));
  if (config.has_rounds()) {
    ASSIGN_OR_RETURN(run.rounds, SeenInRounds(config, run));
  } else {
    const double rounds = std::ceil(config.epochs() * run.rounds_per_epoch - 1e-9);
    RETURN_IF_ERROR(CheckLength(config, rounds));
    run.rounds = static_cast<Round>(rounds);
  }
  RETURN_IF_ERROR(CheckLength(config, static_cast<double>(run.rounds)));
  const EvaluationTimes evaluations = EvaluationsOf(config, run, data);
  plan.evaluate_every = evaluations.every * run.rounds_per_epoch;
  plan.evaluation_samples = evaluations.samples;
  ASSIGN_OR_RETURN(plan.batches, ScheduleOf(config, run));
  RETURN_IF_ERROR(CheckPasses(config, plan));
  plan.rounds = config.has_rounds() ? config.rounds() : plan.batches.RoundsFor(run.rounds);
  plan.open_ended = IsOpenEnded(config);
  RETURN_IF_ERROR(CheckPlateaus(config, plan));
  return plan;
}

}  // namespace grapevine
