#include "experiment/core/experiment_results.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/view.h"
#include "base/status.h"
#include "base/units.h"
#include "model/files/safetensors.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

std::optional<TargetAccuracy> TargetOf(const Config& config, const std::optional<RunMetrics>& met) {
  if (!config.has_target_accuracy()) return std::nullopt;
  TargetAccuracy target{.accuracy = config.target_accuracy(), .met = met.has_value()};
  if (!met) return target;
  target.round = met->round;
  target.epoch = met->epoch;
  target.time_s = met->time_s;
  target.bytes_sent_total = met->bytes_sent_total;
  target.test_accuracy = met->test_accuracy;
  return target;
}

// Returns the stages of the batch that the run came to; absent if the batch did not grow.
std::optional<BatchGrowth> GrowthIn(const Experiment& experiment, const RunPlan& plan,
                                    Round rounds) {
  BatchGrowth growth;
  for (const BatchSchedule::Stage& stage : plan.batches.stages()) {
    if (stage.round > 0 && stage.round >= rounds) break;
    growth.round.push_back(stage.round);
    growth.epoch.push_back(plan.Epoch(stage.round));
    growth.batch.push_back(stage.growth * experiment.global_batch());
  }
  return growth.round.size() > 1 ? std::optional(std::move(growth)) : std::nullopt;
}

std::vector<int64_t> Without(const std::vector<Member>& members,
                             const std::vector<Member>& others) {
  std::vector<int64_t> left;
  std::ranges::set_difference(members, others, std::back_inserter(left));
  return left;
}

// Returns the membership changes of a run, all of whose views began. The nodes that were lost in
// its last rounds, which no view followed, are the last change.
std::vector<MembershipChange> ChangesIn(std::vector<View> views, Rank workers,
                                        const std::set<Rank>& lost, Round rounds) {
  View end{.from = rounds};
  for (Rank rank = 0; rank < workers; ++rank) {
    if (!lost.contains(rank)) end.members.push_back(rank);
  }
  views.push_back(std::move(end));
  std::vector<MembershipChange> changes;
  std::vector<Member> before = FirstView(workers).members;
  for (const View& view : views) {
    MembershipChange change{.round = view.from,
                            .lost = Without(before, view.members),
                            .joined = Without(view.members, before)};
    if (!change.lost.empty() || !change.joined.empty()) changes.push_back(std::move(change));
    before = view.members;
  }
  return changes;
}

void AddMembership(const Experiment& experiment, const RunCourse& course,
                   const std::set<Rank>& lost, Summary* summary) {
  std::vector<MembershipChange> changes =
      ChangesIn(course.views(), experiment.workers(), lost, summary->rounds);
  if (changes.empty()) return;
  summary->membership = std::move(changes);
  summary->living = experiment.config().nodes() - static_cast<int64_t>(lost.size());
}

}  // namespace

absl::StatusOr<EvaluationRecord> EvaluateAverage(const AveragedModel& average, int64_t samples,
                                                 Evaluator& evaluator) {
  ASSIGN_OR_RETURN(const Evaluation plain,
                   samples == 0 ? evaluator.Evaluate(average.model)
                                : evaluator.EvaluateOnSample(average.model, samples));
  EvaluationRecord evaluation{.round = average.round,
                              .consensus_distance = average.consensus_distance,
                              .buffer_distance = average.buffer_distance,
                              .test_loss = plain.loss,
                              .test_accuracy = plain.accuracy,
                              .test_samples = plain.samples,
                              .bytes_sent = average.bytes_sent};
  if (samples != 0) return evaluation;
  ASSIGN_OR_RETURN(const std::optional<Evaluation> recalibrated,
                   evaluator.EvaluateRecalibrated(average.model));
  if (recalibrated) {
    evaluation.test_loss_recalibrated = recalibrated->loss;
    evaluation.test_accuracy_recalibrated = recalibrated->accuracy;
  }
  return evaluation;
}

absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run, const WriteGuard& guard) {
  return WriteSafetensors(
      ModelPath(run), experiment.layout(), average.model.data.get(),
      {{"model", experiment.config().model()}, {"rounds", absl::StrCat(average.round)}}, guard);
}

absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder) {
  return WriteSafetensors(ModelPath(folder), experiment.layout(), model.data.get(),
                          {{"rank", absl::StrCat(rank)}, {"model", experiment.config().model()}});
}

Summary SummaryOf(const Experiment& experiment, const RunCourse& course, const std::set<Rank>& lost,
                  const RunMetrics& latest, const std::optional<RunMetrics>& met) {
  const Config& config = experiment.config();
  const RunPlan plan = course.plan();
  const RunMetrics& kept = met ? *met : latest;  // metrics of the model in the run's folder
  Summary summary{.nodes = config.nodes(),
                  .workers = experiment.workers(),
                  .topology = experiment.mixing().topology().name(),
                  .mixing = experiment.mixing().name(),
                  .algorithm = config.algorithm(),
                  .model = config.model(),
                  .data = experiment.problem().data() != nullptr ? config.data() : "",
                  .seed = static_cast<int64_t>(config.seed()),
                  .rounds = latest.round,
                  .epochs = latest.epoch,
                  .stopped = met ? "target accuracy" : "finished",
                  .bytes_sent_total = latest.bytes_sent_total,
                  .evaluation_bytes_sent_total = latest.evaluation_bytes_sent_total,
                  .train_loss = latest.train_loss,
                  .gradient_variance = latest.gradient_variance,
                  .gradient_square = latest.gradient_square,
                  .noise_scale = latest.noise_scale,
                  .test_loss = kept.test_loss,
                  .test_accuracy = kept.test_accuracy,
                  .test_loss_recalibrated = kept.test_loss_recalibrated,
                  .test_accuracy_recalibrated = kept.test_accuracy_recalibrated,
                  .consensus_distance = kept.consensus_distance,
                  .buffer_distance = kept.buffer_distance,
                  .batch_growth = GrowthIn(experiment, plan, latest.round),
                  .target = TargetOf(config, met)};
  AddMembership(experiment, course, lost, &summary);
  if (experiment.evaluated() == EvaluatedModel::kServersWeights) {
    summary.evaluated = "servers' weights";
  }
  if (latest.time_s > 0) {
    const Rank planned = PlannedWorkers(config, experiment.workers());
    const auto batch = static_cast<double>(FirstGlobalBatch(config, planned));
    summary.samples_per_s = plan.Seen(latest.round) * batch / latest.time_s;
  }
  return summary;
}

namespace {

using std::chrono::nanoseconds;

double InSeconds(nanoseconds time) {
  return SecondsOfNanoseconds(static_cast<double>(time.count()));
}

// Returns the counts of the buckets, without the empty ones at the end.
std::vector<int64_t> Counts(const Staleness& staleness) {
  std::vector<int64_t> counts(staleness.buckets().begin(), staleness.buckets().end());
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  return counts;
}

}  // namespace

void NodeLedger::Add(nanoseconds time, NodeWork* work) {
  work->time = time - std::exchange(time_, time);
  gradients_ += work->gradients;
  gradient_ += work->gradient;
}

void NodeLedger::Describe(const NodeWork& work, const Staleness& staleness,
                          NodeMetrics* line) const {
  line->gradients_total = gradients_;
  line->idle_s = InSeconds(std::max(nanoseconds(0), work.time - work.gradient));
  if (staleness.gradients() == 0) return;
  line->staleness_mean = staleness.mean();
  line->staleness_max = staleness.greatest();
  line->staleness = Counts(staleness);
}

NodeTotals NodeLedger::totals(const Staleness& staleness) const {
  return {.gradients = gradients_,
          .gradient_s = InSeconds(gradient_),
          .time_s = InSeconds(time_),
          .applied = staleness.gradients(),
          .staleness_mean = staleness.mean(),
          .staleness_max = staleness.greatest()};
}

}  // namespace grapevine
