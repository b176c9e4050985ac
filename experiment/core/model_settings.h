// Whether the settings of an experiment fit its model: one that sees no data, or that
// learns nothing, leaves some without a meaning and needs others.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_
#define GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_

#include "absl/status/status.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The first thing that is wrong, as kUsage: flag and value, what is wrong and the remedy
// (run/config/flag_error.h puts the place of a variable or a file in the flag's stead).
absl::Status CheckModelSettings(const Config& config);

// What a simulated node can do but a real one cannot: take a given time for the gradient of
// a network.
absl::Status CheckModelOnRealNodes(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_MODEL_SETTINGS_H_
