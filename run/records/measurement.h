// Turns what nodes did into lines of metrics.jsonl: the arithmetic that real and simulated runs
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

// Where in the training a measurement is taken.
struct TrainingPoint {
  int64_t round = 0;         // completed
  double epoch = 0;          // as in RunMetrics
  double learning_rate = 0;  // of the last completed round
};

// What one node did since its last line.
struct NodeWork {
  double loss_sum = 0;    // of the mean losses of the passes whose losses are known
  int64_t gradients = 0;  // none on a parameter server
  int64_t passes = 0;     // of these gradients, each over a batch
  int64_t losses = 0;     // of these passes, are known
  GradientNoise noise;    // of those in which it was measured
  // Of the last one in which they were measured; empty if there is none.
  std::vector<TensorNorms> norms;
  std::chrono::nanoseconds gradient{};
  std::chrono::nanoseconds mix{};
  std::chrono::nanoseconds time{};  // from boundary to boundary
  AwaitedPeers awaited;

  // `loss` is the mean over so many passes; NaN if nobody knows it.
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

// The node's line, without its byte totals. `time` counts from the first round, `batch` is in
// samples, of a pass. Losses are omitted for a model that does not learn.
NodeMetrics MeasureNode(const TrainingPoint& point, std::chrono::nanoseconds time,
                        const NodeWork& work, int64_t batch, bool learns);

// What one node has done in the whole run, where nodes share a budget of gradients.
struct NodeTotals {
  int64_t gradients = 0;  // that it computed
  double gradient_s = 0;  // in this time
  double time_s = 0;      // of this
  int64_t applied = 0;    // gradients that entered a model there, of whatever staleness
  double staleness_mean = 0;
  int64_t staleness_max = 0;
};

// Adds what only such a run has, over all nodes, of which the first `workers` compute gradients.
void AddTotals(std::span<const NodeTotals> nodes, int64_t workers, Summary* summary);

// Where the time of a worker's steps went: sums.
struct StepSums {
  int64_t count = 0;
  double time_s = 0;
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;

  StepSums& operator+=(const StepSums& other);
};

// Of the work that this line of the node is about.
StepSums StepsOf(const NodeWork& work, const NodeMetrics& line);

// Adds the means of what each of these ranks did in all, and which of several is the slowest;
// nothing where there are no steps.
void AddSteps(const std::map<int64_t, StepSums>& nodes, Summary* summary);

// For whom a node waited, longest first.
std::vector<WaitedFor> InSeconds(const AwaitedPeers& awaited);

// Adds the longest waits of all, of these ranks.
void AddLongestWaits(const std::map<int64_t, AwaitedPeers>& nodes, Summary* summary);

// What all nodes did since the last measurement of the run.
struct RunWork {
  double time_s = 0;  // from the first round until the last node completed this one
  // Summed over the workers, `losses` values in all; absent if nothing is learnt. There may be none
  // where rounds are nominal.
  std::optional<double> loss_sum;
  int64_t losses = 0;
  GradientNoise noise;  // likewise, of the gradients in which it was measured
  int64_t samples = 0;
  int64_t bytes_sent = 0;              // since the first round
  std::optional<int64_t> living = {};  // nodes that are not lost, once one is
  // If known without an evaluation.
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;
};

// The measurements of a run, in ascending order of rounds. Thread-compatible.
class RunMeter {
 public:
  // The run goes on behind these measurements, at this time.
  void Resume(std::span<const RunMetrics> measured, double time_s);

  // A round that all nodes have completed, with its evaluation, if any.
  RunMetrics Measure(const TrainingPoint& point, const RunWork& work,
                     const std::optional<EvaluationRecord>& evaluation);
  // An evaluation alone: the nodes' work counts towards a later measurement. Its time is never
  // before the previous measurement's.
  RunMetrics MeasureModel(const TrainingPoint& point, double time_s,
                          const EvaluationRecord& evaluation);

  // The last known value of each measurement.
  const RunMetrics& latest() const { return latest_; }

 private:
  void AddEvaluation(const EvaluationRecord& evaluation, RunMetrics* metrics);

  int64_t evaluation_bytes_ = 0;  // sent for all evaluations
  double time_s_ = 0;             // when work was measured last
  RunMetrics latest_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_
