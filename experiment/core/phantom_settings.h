// The same experiment without learning, of the same size, for what is about times alone.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_
#define GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_

#include <cstdint>

#include "run/config/config.pb.h"

namespace grapevine {

// The phantom model with so many elements in place of a model that learns; settings of learning go.
void ForgetLearning(int64_t elements, Config* config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_PHANTOM_SETTINGS_H_
