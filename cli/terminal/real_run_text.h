// What `train` and `node` say before and after a real run.
#ifndef GRAPEVINE_CLI_TERMINAL_REAL_RUN_TEXT_H_
#define GRAPEVINE_CLI_TERMINAL_REAL_RUN_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Nodes, graph, algorithm, model and the length of the run, in lines.
std::string Opening(const Experiment& experiment);

// What came out of the run in the folder `run`, and what can be done with its
// files, in lines. kInput: its summary cannot be read.
absl::StatusOr<std::string> Closing(const Config& config, const std::string& run);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_REAL_RUN_TEXT_H_
