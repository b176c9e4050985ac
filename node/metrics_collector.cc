#include "node/metrics_collector.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using Reports = std::map<Rank, control::NodeMetrics>;

// (1/n) sum_i |s_i - mean s|^2 over the workers: of sketches an unbiased estimate
// of the same for the replicas. Distances count from the first one's sketch, so that
// equal replicas are at distance 0 to the bit. Absent unless all have the same, positive
// size.
std::optional<double> MeanSquaredDistance(const Reports& reports, Rank workers) {
  const control::NodeMetrics& first = reports.begin()->second;
  const int size = first.sketch_size();
  if (size == 0) return std::nullopt;
  const auto servers = reports.lower_bound(workers);
  std::vector<double> mean(size);
  for (auto it = reports.begin(); it != servers; ++it) {
    const control::NodeMetrics& report = it->second;
    if (report.sketch_size() != size) return std::nullopt;
    for (int i = 0; i < size; ++i) mean[i] += (report.sketch(i) - first.sketch(i)) / workers;
  }
  double sum = 0;
  for (auto it = reports.begin(); it != servers; ++it) {
    const control::NodeMetrics& report = it->second;
    for (int i = 0; i < size; ++i) {
      const double distance = report.sketch(i) - first.sketch(i) - mean[i];
      sum += distance * distance;
    }
  }
  return sum / workers;
}

}  // namespace

absl::Status MetricsCollector::OnNode(Rank rank, const control::NodeMetrics& report) {
  MutexLock lock(mutex_);
  if (report.has_test_accuracy()) {  // an evaluation alone
    local_accuracy_[rank] = report.test_accuracy();
    return absl::OkStatus();
  }
  if (rank < options_.workers && report.samples() <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " reported round ", report.round(), " without any samples"));
  }
  if (report.round() <= emitted_) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " reported round ",
                                                   report.round(), " after round ", emitted_,
                                                   " was complete"));
  }
  if (open_.size() >= kMaxOpen && !open_.contains(report.round())) {
    return absl::ResourceExhaustedError(absl::StrCat("rank ", rank, " reported round ",
                                                     report.round(), " while ", open_.size(),
                                                     " earlier ones wait for other ranks"));
  }
  if (!open_[report.round()].reports.emplace(rank, report).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " reported round ", report.round(), " twice"));
  }
  EmitComplete();
  return absl::OkStatus();
}

void MetricsCollector::OnEvaluation(const ModelEvaluation& evaluation) {
  MutexLock lock(mutex_);
  open_[evaluation.round].evaluation = evaluation;
  EmitComplete();
}

bool MetricsCollector::Complete(Round round, const Open& open) const {
  return static_cast<Rank>(open.reports.size()) == options_.size &&
         (open.evaluation.has_value() || !options_.evaluated(round));
}

void MetricsCollector::EmitComplete() {
  while (!open_.empty() && Complete(open_.begin()->first, open_.begin()->second)) {
    const auto node = open_.extract(open_.begin());
    const RunMetrics metrics = Join(node.key(), node.mapped());
    emitted_ = metrics.round;
    emitted_time_ = metrics.time_s;
    Remember(metrics, &latest_);
    emit_(metrics);
  }
}

RunMetrics MetricsCollector::Join(Round round, const Open& open) {
  RunMetrics metrics{.round = round};
  std::optional<double> loss;
  int64_t samples = 0;
  int64_t bytes = 0;
  for (const auto& [rank, report] : open.reports) {
    metrics.epoch = std::max(metrics.epoch, report.epoch());
    metrics.time_s = std::max(metrics.time_s, report.time_s());
    bytes += report.bytes_sent();
    if (rank >= options_.workers) continue;
    if (report.has_train_loss_sum()) loss = loss.value_or(0) + report.train_loss_sum();
    samples += report.samples();
  }
  if (loss) metrics.train_loss = *loss / static_cast<double>(samples);
  metrics.learning_rate = options_.learning_rate(round - 1);
  metrics.bytes_sent_total = bytes;
  if (open.evaluation) ++evaluations_;
  metrics.evaluation_bytes_sent_total = evaluations_ * options_.evaluation_bytes;
  if (metrics.time_s > emitted_time_) {
    metrics.samples_per_s = static_cast<double>(samples) / (metrics.time_s - emitted_time_);
  }
  metrics.consensus_distance = MeanSquaredDistance(open.reports, options_.workers);
  if (open.evaluation) {
    metrics.consensus_distance = open.evaluation->consensus_distance;
    metrics.buffer_distance = open.evaluation->buffer_distance;
    metrics.test_loss = open.evaluation->test_loss;
    metrics.test_accuracy = open.evaluation->test_accuracy;
    metrics.test_loss_recalibrated = open.evaluation->test_loss_recalibrated;
    metrics.test_accuracy_recalibrated = open.evaluation->test_accuracy_recalibrated;
  }
  return metrics;
}

RunMetrics MetricsCollector::latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

std::optional<Spread> MetricsCollector::local_test_accuracy() const {
  MutexLock lock(mutex_);
  if (static_cast<Rank>(local_accuracy_.size()) != options_.workers) return std::nullopt;
  Spread spread{
      .min = local_accuracy_.begin()->second, .mean = 0, .max = local_accuracy_.begin()->second};
  for (const auto& [rank, accuracy] : local_accuracy_) {
    spread.min = std::min(spread.min, accuracy);
    spread.max = std::max(spread.max, accuracy);
    spread.mean += accuracy / options_.workers;
  }
  return spread;
}

}  // namespace grapevine
