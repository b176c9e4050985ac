#include "run/records/measurement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/units.h"

namespace grapevine {
namespace {

// Gives the same bits as the conversion of simulated times does everywhere.
double InSeconds(std::chrono::nanoseconds time) {
  return SecondsOfNanoseconds(static_cast<double>(time.count()));
}

double Mean(double sum, int64_t count) { return sum / static_cast<double>(count); }

template <typename Metrics>
void AddNoise(const GradientNoise& noise, Metrics* metrics) {
  if (noise.gradients == 0) return;
  metrics->gradient_variance = Mean(noise.variance, noise.gradients);
  metrics->gradient_square = Mean(noise.square, noise.gradients);
  metrics->noise_scale = noise.Scale();
}

StepMeans MeansOf(const StepSums& sums) {
  return {.count = sums.count,
          .mean_s = Mean(sums.time_s, sums.count),
          .gradient_s = Mean(sums.gradient_s, sums.count),
          .mix_s = Mean(sums.mix_s, sums.count),
          .wait_s = Mean(sums.wait_s, sums.count)};
}

double Work(const StepMeans& steps) { return steps.mean_s - steps.wait_s; }

// Returns samples per second; absent for work that took no time.
std::optional<double> Rate(int64_t samples, double seconds) {
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(samples) / seconds;
}

}  // namespace

NodeMetrics MeasureNode(const TrainingPoint& point, std::chrono::nanoseconds time,
                        const NodeWork& work, int64_t batch, bool learns) {
  const double seconds = InSeconds(work.time);
  NodeMetrics metrics{.round = point.round,
                      .epoch = point.epoch,
                      .time_s = InSeconds(time),
                      .learning_rate = point.learning_rate,
                      .mix_s = InSeconds(work.mix),
                      .wait_s = std::max(0.0, seconds - InSeconds(work.gradient + work.mix))};
  metrics.waited_for = InSeconds(work.awaited);
  if (work.gradients == 0) return metrics;
  if (learns && work.losses > 0) metrics.train_loss = Mean(work.loss_sum, work.losses);
  AddNoise(work.noise, &metrics);
  metrics.norms = work.norms;
  metrics.gradient_s = InSeconds(work.gradient);
  metrics.samples_per_s = Rate(work.passes * batch, seconds);
  return metrics;
}

void AddTotals(std::span<const NodeTotals> nodes, int64_t workers, Summary* summary) {
  std::vector<double> gradients, idle;
  double staleness = 0;
  int64_t applied = 0, greatest = 0;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    const NodeTotals& node = nodes[rank];
    staleness += node.staleness_mean * static_cast<double>(node.applied);
    applied += node.applied;
    greatest = std::max(greatest, node.staleness_max);
    if (static_cast<int64_t>(rank) >= workers) continue;
    gradients.push_back(static_cast<double>(node.gradients));
    idle.push_back(std::max(0.0, node.time_s - node.gradient_s));
  }
  summary->gradients = SpreadOf(gradients);
  summary->idle_s = SpreadOf(idle);
  if (applied == 0) return;
  summary->staleness_mean = Mean(staleness, applied);
  summary->staleness_max = greatest;
}

StepSums& StepSums::operator+=(const StepSums& other) {
  count += other.count;
  time_s += other.time_s;
  gradient_s += other.gradient_s;
  mix_s += other.mix_s;
  wait_s += other.wait_s;
  return *this;
}

StepSums StepsOf(const NodeWork& work, const NodeMetrics& line) {
  return {.count = work.gradients,
          .time_s = InSeconds(work.time),
          .gradient_s = line.gradient_s.value_or(0),
          .mix_s = line.mix_s.value_or(0),
          .wait_s = line.wait_s.value_or(0)};
}

void AddSteps(const std::map<int64_t, StepSums>& nodes, Summary* summary) {
  StepSums all;
  std::optional<SlowestNode> slowest;
  for (const auto& [rank, sums] : nodes) {
    if (sums.count == 0) continue;
    all += sums;
    const StepMeans means = MeansOf(sums);
    if (!slowest || Work(means) > Work(slowest->steps)) slowest = {rank, means};
  }
  if (!slowest) return;
  summary->steps = MeansOf(all);
  if (all.count > slowest->steps.count) summary->slowest_node = slowest;
}

std::vector<WaitedFor> InSeconds(const AwaitedPeers& awaited) {
  std::vector<WaitedFor> waits;
  for (const AwaitedPeers::Wait& wait : awaited.Longest()) {
    waits.push_back({wait.peer, InSeconds(wait.time)});
  }
  return waits;
}

void AddLongestWaits(const std::map<int64_t, AwaitedPeers>& nodes, Summary* summary) {
  std::vector<PeerWait>& all = summary->longest_waits.emplace();
  for (const auto& [rank, awaited] : nodes) {
    for (const WaitedFor& wait : InSeconds(awaited)) {
      all.push_back({.rank = rank, .peer = wait.rank, .seconds = wait.seconds});
    }
  }
  // Equal waits stay in the order of rank and peer.
  std::ranges::stable_sort(all, std::greater(), &PeerWait::seconds);
  if (all.size() > Summary::kMostLongestWaits) all.resize(Summary::kMostLongestWaits);
}

void RunMeter::Resume(std::span<const RunMetrics> measured, double time_s) {
  for (const RunMetrics& metrics : measured) Remember(metrics, &latest_);
  evaluation_bytes_ = latest_.evaluation_bytes_sent_total.value_or(0);
  time_s_ = time_s;
}

RunMetrics RunMeter::Measure(const TrainingPoint& point, const RunWork& work,
                             const std::optional<EvaluationRecord>& evaluation) {
  RunMetrics metrics{.round = point.round,
                     .epoch = point.epoch,
                     .time_s = work.time_s,
                     .learning_rate = point.learning_rate,
                     .consensus_distance = work.consensus_distance,
                     .buffer_distance = work.buffer_distance,
                     .bytes_sent_total = work.bytes_sent,
                     .evaluation_bytes_sent_total = evaluation_bytes_,
                     .samples_per_s = Rate(work.samples, work.time_s - time_s_),
                     .living = work.living};
  if (work.loss_sum && work.losses > 0) metrics.train_loss = Mean(*work.loss_sum, work.losses);
  AddNoise(work.noise, &metrics);
  if (evaluation) AddEvaluation(*evaluation, &metrics);
  time_s_ = work.time_s;
  Remember(metrics, &latest_);
  return metrics;
}

RunMetrics RunMeter::MeasureModel(const TrainingPoint& point, double time_s,
                                  const EvaluationRecord& evaluation) {
  RunMetrics metrics{
      .round = point.round, .epoch = point.epoch, .time_s = std::max(time_s, time_s_)};
  AddEvaluation(evaluation, &metrics);
  Remember(metrics, &latest_);
  return metrics;
}

void RunMeter::AddEvaluation(const EvaluationRecord& evaluation, RunMetrics* metrics) {
  metrics->evaluation_bytes_sent_total = evaluation_bytes_ += evaluation.bytes_sent;
  if (evaluation.consensus_distance) metrics->consensus_distance = evaluation.consensus_distance;
  metrics->buffer_distance = evaluation.buffer_distance;
  metrics->test_loss = evaluation.test_loss;
  metrics->test_accuracy = evaluation.test_accuracy;
  metrics->test_loss_recalibrated = evaluation.test_loss_recalibrated;
  metrics->test_accuracy_recalibrated = evaluation.test_accuracy_recalibrated;
  metrics->test_samples = evaluation.test_samples;
}

}  // namespace grapevine
