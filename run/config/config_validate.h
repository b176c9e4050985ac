// Checks that the values of a configuration make sense, alone and together. Specs (of a topology,
// a model) are checked by the code that builds what they name.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_

#include "absl/status/status.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// The first problem, as kUsage: where the value came from, what is wrong with it and the remedy.
absl::Status ValidateConfig(const ResolvedConfig& resolved);

// What real nodes refuse in addition: to measure times that are made up, and to wait longer for a
// peer than for a step.
absl::Status ValidateForRealNodes(const ResolvedConfig& resolved);

// What simulated nodes refuse in addition: to compute on a GPU.
absl::Status ValidateForSimulation(const ResolvedConfig& resolved);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_
