// How good the models of an experiment are, and where they are kept: the same
// for real and for simulated nodes.
#ifndef GRAPEVINE_EXPERIMENT_CORE_AVERAGE_EVALUATION_H_
#define GRAPEVINE_EXPERIMENT_CORE_AVERAGE_EVALUATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "kernels/vector/aligned_buffer.h"
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

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_AVERAGE_EVALUATION_H_
