// Whether the values of a configuration make sense by themselves and together.
// What a spec means (a topology, a model) is checked by whoever builds it.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_

#include "absl/status/status.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// The first thing that is wrong, as kUsage: where the value came from, what is
// wrong and the remedy.
absl::Status ValidateConfig(const ResolvedConfig& resolved);

// What real nodes refuse beside it: to measure times that are made up.
absl::Status ValidateForRealNodes(const ResolvedConfig& resolved);

// And what a real node can do but a simulated one cannot: compute on a GPU.
absl::Status ValidateForSimulation(const ResolvedConfig& resolved);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_VALIDATE_H_
