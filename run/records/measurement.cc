#include "run/records/measurement.h"

#include <algorithm>

#include "base/units.h"

namespace grapevine {
namespace {

// The same bits as simulated times have everywhere.
double InSeconds(std::chrono::nanoseconds time) {
  return SecondsOfNanoseconds(static_cast<double>(time.count()));
}

double Mean(double sum, int64_t count) { return sum / static_cast<double>(count); }

// Absent for work that took no time.
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
  if (work.gradients == 0) return metrics;
  if (learns) metrics.train_loss = Mean(work.loss_sum, work.gradients);
  metrics.gradient_s = InSeconds(work.gradient);
  metrics.samples_per_s = Rate(work.gradients * batch, seconds);
  return metrics;
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
                     .evaluation_bytes_sent_total = evaluations_ * evaluation_bytes_,
                     .samples_per_s = Rate(work.samples, work.time_s - time_s_)};
  if (work.loss_sum) metrics.train_loss = Mean(*work.loss_sum, work.losses);
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
  metrics->evaluation_bytes_sent_total = ++evaluations_ * evaluation_bytes_;
  metrics->consensus_distance = evaluation.consensus_distance;
  metrics->buffer_distance = evaluation.buffer_distance;
  metrics->test_loss = evaluation.test_loss;
  metrics->test_accuracy = evaluation.test_accuracy;
  metrics->test_loss_recalibrated = evaluation.test_loss_recalibrated;
  metrics->test_accuracy_recalibrated = evaluation.test_accuracy_recalibrated;
}

}  // namespace grapevine
