// How good the models of an experiment are, and where they are kept: the same
// for real and for simulated nodes.
#ifndef GRAPEVINE_CLI_MODEL_ASSESSMENT_H_
#define GRAPEVINE_CLI_MODEL_ASSESSMENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/experiment.h"
#include "kernels/aligned_buffer.h"
#include "model/averaged_model.h"
#include "model/problem.h"
#include "run/metrics.h"

namespace grapevine {

// With averaged batch-norm statistics and, where the model has any, with
// recalibrated ones, which are written into `average` meanwhile.
absl::StatusOr<ModelEvaluation> AssessAverage(const AveragedModel& average, Assessor& assessor);

// `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run);
// `folder`/model.safetensors, of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_MODEL_ASSESSMENT_H_
