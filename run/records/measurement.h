// From what nodes did to the lines of metrics.jsonl: the arithmetic that real and
// simulated runs share.
#ifndef GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_
#define GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "run/records/metrics.h"

namespace grapevine {

// Where in the training a measurement is taken.
struct TrainingPoint {
  int64_t round = 0;         // completed
  double epoch = 0;          // as in RunMetrics
  double learning_rate = 0;  // of the round that was completed last
};

// What one node did since its last line.
struct NodeWork {
  double loss_sum = 0;    // over the gradients: the mean losses of their batches
  int64_t gradients = 0;  // none on a parameter server
  std::chrono::nanoseconds gradient{};
  std::chrono::nanoseconds mix{};
  std::chrono::nanoseconds time{};  // from boundary to boundary

  void AddGradient(double loss, std::chrono::nanoseconds took) {
    loss_sum += loss;
    ++gradients;
    gradient += took;
  }
};

// The node's line but for its totals of bytes. `time` is since the first round, `batch` in
// samples. Losses of a model that does not learn are left out.
NodeMetrics MeasureNode(const TrainingPoint& point, std::chrono::nanoseconds time,
                        const NodeWork& work, int64_t batch, bool learns);

// What all nodes did since the last measurement of the run.
struct RunWork {
  double time_s = 0;  // since the first round, when the last node had done this one
  // Over the workers: the sum of so many losses, absent where nothing is learnt.
  std::optional<double> loss_sum;
  int64_t losses = 0;
  int64_t samples = 0;
  int64_t bytes_sent = 0;  // since the first round
  // Where they are known without an evaluation.
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;
};

// The measurements of a run, in ascending order of rounds. Thread-compatible.
class RunMeter {
 public:
  // `evaluation_bytes`: that all nodes send to merge their models for one evaluation.
  explicit RunMeter(int64_t evaluation_bytes) : evaluation_bytes_(evaluation_bytes) {}

  // A round that all nodes have done, with its evaluation where it has one.
  RunMetrics Measure(const TrainingPoint& point, const RunWork& work,
                     const std::optional<ModelEvaluation>& evaluation);
  // An evaluation alone: what the nodes did counts in a later measurement. Time does not
  // go back before the last one.
  RunMetrics MeasureModel(const TrainingPoint& point, double time_s,
                          const ModelEvaluation& evaluation);

  // The last value of each measurement.
  const RunMetrics& latest() const { return latest_; }

 private:
  void AddEvaluation(const ModelEvaluation& evaluation, RunMetrics* metrics);

  const int64_t evaluation_bytes_;
  int64_t evaluations_ = 0;
  double time_s_ = 0;  // when work was measured last
  RunMetrics latest_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_MEASUREMENT_H_
