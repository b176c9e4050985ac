// The results of an experiment, by real or by simulated nodes: how good its models are, where
// they are kept, what each node did in all, and the summary of its measurements.
//
// Functions are safe from any thread, on different models; a ledger belongs to one.
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

// On so many test samples; 0: on all, with averaged batch-norm statistics and, if the model has
// any, also with recalibrated ones, which are in `average` for that time.
absl::StatusOr<EvaluationRecord> EvaluateAverage(const AveragedModel& average, int64_t samples,
                                                 Evaluator& evaluator);

// `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run, const WriteGuard& guard = {});
// `folder`/model.safetensors, of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

// Everything except the clock (wall or simulated time) and the nodes' own accuracies, of a run that
// took this course, at whose end these were lost. `latest` has the last values, `met` the first
// that met --target-accuracy, if any did.
Summary SummaryOf(const Experiment& experiment, const RunCourse& course, const std::set<Rank>& lost,
                  const RunMetrics& latest, const std::optional<RunMetrics>& met);

// What one node has done in all, in a run whose nodes share a budget of gradients
// (algorithm/async_gradients.h) and so differ in it: how many gradients it computed, how long none
// was being computed. Real and simulated nodes keep it; how stale the gradients were that the node
// applied, their drivers know.
//
// Thread-compatible.
class NodeLedger {
 public:
  // What the node did until `time` after the start of the run, since the last call. `work` then
  // has all of that time, also what lies between boundaries and cuts.
  void Add(std::chrono::nanoseconds time, NodeWork* work);
  // Adds the totals to the node's line about that work.
  void Describe(const NodeWork& work, const Staleness& staleness, NodeMetrics* line) const;

  NodeTotals totals(const Staleness& staleness) const;

 private:
  int64_t gradients_ = 0;
  std::chrono::nanoseconds gradient_{};
  std::chrono::nanoseconds time_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
