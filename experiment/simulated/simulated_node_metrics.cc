#include "experiment/simulated/simulated_node_metrics.h"

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "run/records/continued_lines.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"

namespace grapevine {

using std::chrono::nanoseconds;

SimulatedNodeMetrics::SimulatedNodeMetrics(const Experiment* experiment, const RunCourse* course,
                                           Rank nodes)
    : experiment_(experiment), course_(course), nodes_(nodes) {}

absl::Status SimulatedNodeMetrics::Resume(const std::string& run, Rank rank, Round round,
                                          Nanoseconds time, int64_t bytes_received) {
  Node& node = nodes_[rank];
  node.last_line = time;
  node.bytes_received.Add(round - 1, bytes_received);
  ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                   KeepLinesUntil(MetricsPath(NodeDirectory(run, rank)), round));
  for (const std::string& line : lines) node.lines += line + "\n";
  return absl::OkStatus();
}

void SimulatedNodeMetrics::OnGradient(const GradientTimes& gradient) {
  nodes_[gradient.rank].work.AddGradient(gradient.loss, course_->PassesIn(gradient.round).count,
                                         nanoseconds(gradient.end - gradient.begin), gradient.noise,
                                         gradient.norms);
}

void SimulatedNodeMetrics::OnMessage(const MessageTimes& message) {
  nodes_[message.to].bytes_received.Add(message.round, message.bytes);
}

void SimulatedNodeMetrics::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  nodes_[rank].work.mix += nanoseconds(end - begin);
}

void SimulatedNodeMetrics::OnCut(const CutTimes& cut, int64_t bytes_sent,
                                 const Staleness& staleness) {
  Node& node = nodes_[cut.rank];
  const int64_t bytes_received = node.bytes_received.Before(cut.completed);
  if (!course_->Measured(cut.round)) return;
  NodeWork work = std::exchange(node.work, {});
  work.time = nanoseconds(cut.now - std::exchange(node.last_line, cut.now));
  const bool shares_budget = !experiment_->has_rounds();
  if (shares_budget) node.ledger.Add(nanoseconds(cut.now), &work);
  if (!experiment_->problem().learns()) return;
  NodeMetrics metrics = MeasureNode(course_->At(cut.round), nanoseconds(cut.now), work,
                                    experiment_->config().batch(), /*learns=*/true);
  if (shares_budget) node.ledger.Describe(work, staleness, &metrics);
  metrics.bytes_sent_total = bytes_sent;
  metrics.bytes_received_total = bytes_received;
  node.lines += ToJsonLine(metrics);
  node.lines += '\n';
}

absl::Status SimulatedNodeMetrics::Write(const std::string& run) const {
  for (Rank rank = 0; rank < static_cast<Rank>(nodes_.size()); ++rank) {
    ASSIGN_OR_RETURN(const std::string folder, CreateNodeDirectory(run, rank));
    RETURN_IF_ERROR(WriteOutputFile(MetricsPath(folder), nodes_[rank].lines));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
