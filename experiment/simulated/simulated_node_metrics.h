// Each virtual node's own metrics.jsonl, as a real node would write it.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_NODE_METRICS_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_NODE_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/round_bytes.h"
#include "algorithm/staleness.h"
#include "experiment/core/experiment.h"
#include "experiment/core/node_ledger.h"
#include "experiment/core/run_course.h"
#include "run/records/measurement.h"
#include "sim/engine/sim_observer.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// Thread-compatible. Lines are kept in memory until Write: a simulation of many nodes has no
// descriptor for each.
class SimulatedNodeMetrics {
 public:
  // `experiment` and the run's `course` outlive this. Of a model that does not learn there are
  // totals, but no lines.
  SimulatedNodeMetrics(const Experiment* experiment, const RunCourse* course, Rank nodes);

  // The run goes on at `time` from a round until which a node has received so much. Cuts off its
  // lines in `run` that are of later rounds.
  absl::Status Resume(const std::string& run, Rank rank, Round round, Nanoseconds time,
                      int64_t bytes_received);

  void OnGradient(const GradientTimes& gradient);
  void OnMessage(const MessageTimes& message);
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end);
  void OnCut(const CutTimes& cut, int64_t bytes_sent, const Staleness& staleness);

  // In the rounds before `completed`, which ascends.
  int64_t BytesReceived(Rank rank, Round completed) {
    return nodes_[rank].bytes_received.Before(completed);
  }
  // What a node has done, in a run whose nodes share a budget of gradients.
  NodeTotals totals(Rank rank, const Staleness& staleness) const {
    return nodes_[rank].ledger.totals(staleness);
  }
  // `run`/node-RANK/metrics.jsonl for every node.
  absl::Status Write(const std::string& run) const;

 private:
  struct Node {
    NodeWork work;  // since the last line
    NodeLedger ledger;
    Nanoseconds last_line = 0;
    RoundBytes bytes_received;
    std::string lines;
  };

  const Experiment* const experiment_;
  const RunCourse* const course_;
  std::vector<Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_NODE_METRICS_H_
