// Replaces an experiment by one of the same size that learns nothing, for questions about times
// alone.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_
#define GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_

#include <cstdint>

#include "run/config/config.pb.h"

namespace grapevine {

// Sets the model to a phantom of this many elements, and clears the settings of learning.
void ForgetLearning(int64_t elements, Config* config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_
