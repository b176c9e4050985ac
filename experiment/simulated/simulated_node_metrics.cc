#include "experiment/simulated/simulated_node_metrics.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"

namespace grapevine {
SimulatedNodeMetrics::SimulatedNodeMetrics(const Experiment* experiment, Rank nodes)
    : experiment_(experiment), nodes_(nodes) {}

void SimulatedNodeMetrics::OnGradient(const GradientTimes& gradient) {
  Node& node = nodes_[gradient.rank];
  node.loss_sum += gradient.loss;
  ++node.gradients;
  node.gradient += gradient.end - gradient.begin;
}

void SimulatedNodeMetrics::OnMessage(const MessageTimes& message) {
  nodes_[message.to].bytes_received.Add(message.round, message.bytes);
}

void SimulatedNodeMetrics::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  nodes_[rank].mix += end - begin;
}

void SimulatedNodeMetrics::OnBoundary(Rank rank, Round completed, Nanoseconds now,
                                      int64_t bytes_sent) {
  Node& node = nodes_[rank];
  const int64_t bytes_received = node.bytes_received.Before(completed);
  if (!experiment_->Measured(completed) || node.gradients == 0) return;
  const double seconds = Seconds(now - node.last_line);
  NodeMetrics metrics{.round = completed,
                      .epoch = experiment_->Epoch(completed),
                      .time_s = Seconds(now),
                      .train_loss = node.loss_sum / static_cast<double>(node.gradients),
                      .learning_rate = experiment_->learning_rate(completed - 1),
                      .gradient_s = Seconds(node.gradient),
                      .mix_s = Seconds(node.mix),
                      .wait_s = std::max(0.0, seconds - Seconds(node.gradient + node.mix)),
                      .bytes_sent_total = bytes_sent,
                      .bytes_received_total = bytes_received};
  if (seconds > 0) {
    metrics.samples_per_s =
        static_cast<double>(node.gradients) * experiment_->config().batch() / seconds;
  }
  node.lines += ToJsonLine(metrics);
  node.lines += '\n';
  node.loss_sum = 0;
  node.gradients = 0;
  node.gradient = node.mix = 0;
  node.last_line = now;
}

absl::Status SimulatedNodeMetrics::Write(const std::string& run) const {
  for (Rank rank = 0; rank < static_cast<Rank>(nodes_.size()); ++rank) {
    const absl::StatusOr<std::string> folder = CreateNodeDirectory(run, rank);
    if (!folder.ok()) return folder.status();
    absl::Status status = WriteOutputFile(MetricsPath(*folder), nodes_[rank].lines);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace grapevine
