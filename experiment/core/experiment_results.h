// The results of an experiment, by real or by simulated nodes: how good its models are, where
// they are kept, and the summary of its measurements.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_plan.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "model/problem/problem.h"
#include "run/records/metrics.h"

namespace grapevine {

// With averaged batch-norm statistics and, if the model has any, also with recalibrated ones,
// which are in `average` for that time.
absl::StatusOr<EvaluationRecord> EvaluateAverage(const AveragedModel& average,
                                                 Evaluator& evaluator);

// `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run);
// `folder`/model.safetensors, of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

// Everything except the clock (wall or simulated time) and the nodes' own accuracies, of a run with
// this plan. `latest` has the last values, `met` the first that met --target-accuracy, if any did.
Summary SummaryOf(const Experiment& experiment, const RunPlan& plan, const RunMetrics& latest,
                  const std::optional<RunMetrics>& met);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
