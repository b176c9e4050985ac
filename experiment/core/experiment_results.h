// What came out of an experiment, the same for real and for simulated nodes: how good its
// models are, where they are kept, and the summary of what was measured.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "model/problem/problem.h"
#include "run/records/metrics.h"

namespace grapevine {

// With averaged batch-norm statistics and, where the model has any, with
// recalibrated ones, which are written into `average` meanwhile.
absl::StatusOr<ModelEvaluation> EvaluateAverage(const AveragedModel& average, Evaluator& evaluator);

// `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run);
// `folder`/model.safetensors, of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

// All but the clock (wall or simulated time) and the nodes' own accuracies. `latest` has
// the last values, `met` the first that met --target-accuracy, where any did.
Summary SummaryOf(const Experiment& experiment, const RunMetrics& latest,
                  const std::optional<RunMetrics>& met);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_RESULTS_H_
