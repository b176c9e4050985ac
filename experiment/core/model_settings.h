// Checks that the settings of an experiment fit its model: one that sees no data, or learns
// nothing, makes some meaningless and requires others.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_
#define GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_

#include "absl/status/status.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The first problem, as kUsage: flag and value, what is wrong and the remedy
// (run/config/flag_error.h replaces the flag by the variable or file that the value came from).
absl::Status CheckModelSettings(const Config& config);

// Refuses what only a simulated node can do: take a given time for the gradient of a network.
absl::Status CheckModelOnRealNodes(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_
