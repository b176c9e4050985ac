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
#include "model/network.h"
#include "run/metrics.h"

namespace grapevine {

// Mean loss (nats) and accuracy over the test set.
struct TestResult {
  double loss = 0;
  double accuracy = 0;
};

// `network` is scratch: one of the experiment's, used by nobody else meanwhile.
absl::StatusOr<TestResult> AssessModel(const Experiment& experiment, const SharedVector& model,
                                       Network& network);
// With averaged batch-norm statistics and, where the network has any, with
// recalibrated ones, which are written into `average` meanwhile.
absl::StatusOr<ModelEvaluation> AssessAverage(const Experiment& experiment,
                                              const AveragedModel& average, Network& network);

// `run`/model.safetensors.
absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run);
// `folder`/model.safetensors, of one node.
absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_MODEL_ASSESSMENT_H_
