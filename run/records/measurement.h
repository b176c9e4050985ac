// Turns the work of nodes into lines of metrics.jsonl: the arithmetic that real and simulated runs
// share.
#ifndef GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_
#define GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/gradient.h"
#include "run/records/awaited_peers.h"
#include "run/records/metrics.h"

namespace grapevine {

// The point of the training at which a measurement is taken.
struct TrainingPoint {
  int64_t round = 0;         // completed rounds
  double epoch = 0;          // see RunMetrics::epoch
  double learning_rate = 0;  // learning rate of the last completed round
};

// The work of one node since its last line.
struct NodeWork {
  double loss_sum = 0;    // sum of the mean losses of `losses` passes
  int64_t gradients = 0;  // 0 on a parameter server
  int64_t passes = 0;     // passes of these gradients, each over a batch
  int64_t losses = 0;     // passes whose losses are known
  GradientNoise noise;    // sum over the gradients in which it was measured
  // The norms of the last gradient in which they were measured; empty if there was none.
  std::vector<TensorNorms> norms;
  std::chrono::nanoseconds gradient{};
  std::chrono::nanoseconds mix{};
  std::chrono::nanoseconds time{};  // time of the steps, from boundary to boundary
  AwaitedPeers awaited;

  // Adds a gradient of `count` passes that took `took`. `loss` is the mean over the passes; NaN if
  // it is not known.
  void AddGradient(double loss, int64_t count, std::chrono::nanoseconds took,
                   const GradientNoise& its_noise = {},
                   std::span<const TensorNorms> its_norms = {}) {
    if (!std::isnan(loss)) {
      loss_sum += loss * static_cast<double>(count);
      losses += count;
    }
    ++gradients;
    passes += count;
    noise += its_noise;
    if (!its_norms.empty()) norms.assign(its_norms.begin(), its_norms.end());
    gradient += took;
  }
};

// Returns the node's line, without its byte totals. `time` is the time since the first round,
// `batch` the number of samples in a pass. The line of a model that does not learn has no losses.
NodeMetrics MeasureNode(const TrainingPoint& point, std::chrono::nanoseconds time,
                        const NodeWork& work, int64_t batch, bool learns);

// The work of one node in the whole run, where nodes share a budget of gradients.
struct NodeTotals {
  int64_t gradients = 0;  // gradients that the node computed
  double gradient_s = 0;  // time in which it computed them
  double time_s = 0;      // time of the whole run
  int64_t applied = 0;    // gradients that entered a model on this node, of any staleness
  double staleness_mean = 0;
  int64_t staleness_max = 0;
};

// Adds the members of the summary that only a run with a shared budget of gradients has. `nodes`
// are all nodes by rank; the first `workers` of them compute gradients.
void AddTotals(std::span<const NodeTotals> nodes, int64_t workers, Summary* summary);

// Sums over a worker's steps, which say where their time went.
struct StepSums {
  int64_t count = 0;
  double time_s = 0;
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;

  StepSums& operator+=(const StepSums& other);
};

// Returns the sums over the steps of `work`. `line` is the line that MeasureNode made of it.
StepSums StepsOf(const NodeWork& work, const NodeMetrics& line);

// Adds the means over the steps of all these ranks and, if several have steps, the slowest of them.
// Adds nothing if none has steps.
void AddSteps(const std::map<int64_t, StepSums>& nodes, Summary* summary);

// Returns the peers for which a node waited, longest wait first.
std::vector<WaitedFor> InSeconds(const AwaitedPeers& awaited);

// Adds the longest waits of all these ranks.
void AddLongestWaits(const std::map<int64_t, AwaitedPeers>& nodes, Summary* summary);

// The work of all nodes since the last measurement of the run.
struct RunWork {
  // Time from the first round until the last node completed this round.
  double time_s = 0;
  // The sum of `losses` loss values over the workers; absent if nothing is learnt. `losses` may be
  // 0 where rounds are nominal.
  std::optional<double> loss_sum;
  int64_t losses = 0;
  GradientNoise noise;  // sum over the gradients in which it was measured
  int64_t samples = 0;
  int64_t bytes_sent = 0;              // bytes sent since the first round
  std::optional<int64_t> living = {};  // nodes that are not lost; absent until one is lost
  // Distances that are known without an evaluation.
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;
};

// The measurements of a run, in ascending order of rounds. Thread-compatible.
class RunMeter {
 public:
  // Continues the measurements `measured` of a run that goes on at `time_s`.
  void Resume(std::span<const RunMetrics> measured, double time_s);

  // Measures a round that all nodes have completed, with its evaluation, if any.
  RunMetrics Measure(const TrainingPoint& point, const RunWork& work,
                     const std::optional<EvaluationRecord>& evaluation);
  // Measures an evaluation alone; the nodes' work counts towards a later measurement. The time of
  // the result is never before that of the last measurement of work.
  RunMetrics MeasureModel(const TrainingPoint& point, double time_s,
                          const EvaluationRecord& evaluation);

  // Returns the last known value of each measurement.
  const RunMetrics& latest() const { return latest_; }

 private:
  void AddEvaluation(const EvaluationRecord& evaluation, RunMetrics* metrics);

  int64_t evaluation_bytes_ = 0;  // bytes sent for all evaluations
  double time_s_ = 0;             // time at which work was measured last
  RunMetrics latest_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_
