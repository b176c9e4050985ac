// The results of an experiment, by real or by simulated nodes: how good its models are, where they
// are kept, what each node did in all, and the summary of its measurements.
//
// Thread-safety: functions are safe from any thread, on different models; a ledger belongs to one
// thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/async_gradients.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_course.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "model/problem/problem.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"
#include "system/file.h"

namespace grapevine {

// Evaluates an averaged model on `samples` test samples, or on all of them if `samples` is 0. On
// all samples, the model is evaluated with averaged batch-norm statistics and, if it has any, also
// with recalibrated ones, which are in `average` for that time.
absl::StatusOr<EvaluationRecord> EvaluateAverage(const AveragedModel& average, int64_t samples,
                                                 Evaluator& evaluator);

// Writes `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run, const WriteGuard& guard = {});
// Writes `folder`/model.safetensors, the model of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

// Returns the summary of a run that took this course, without the clock (wall or simulated time)
// and the nodes' own accuracies. `lost` has the nodes that are lost at the end of the run, `latest`
// the last values, and `met` the first values that met --target-accuracy, if any did.
Summary SummaryOf(const Experiment& experiment, const RunCourse& course, const std::set<Rank>& lost,
                  const RunMetrics& latest, const std::optional<RunMetrics>& met);

// The totals of one node in a run whose nodes share a budget of gradients
// (algorithm/async_gradients.h) and so differ in their work: how many gradients the node computed,
// and how long it computed none. Real and simulated nodes keep a ledger each; their drivers know
// how stale the gradients were that the node applied.
//
// Thread-compatible.
class NodeLedger {
 public:
  // Adds `work`, what the node did since the last call, until `time` after the start of the run.
  // Sets the time of `work` to all of that time, including what lies between boundaries and cuts.
  void Add(std::chrono::nanoseconds time, NodeWork* work);
  // Adds the totals to `line`, the node's line about `work`.
  void Describe(const NodeWork& work, const Staleness& staleness, NodeMetrics* line) const;

  NodeTotals totals(const Staleness& staleness) const;

 private:
  int64_t gradients_ = 0;
  std::chrono::nanoseconds gradient_{};
  std::chrono::nanoseconds time_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
