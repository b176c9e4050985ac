// The help of a setting, with all names that its spec may have, from the registries.
//
// Pure functions over the registries, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_
#define GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_

#include <string>

#include "run/config/config_field.h"

namespace grapevine {

// "how nodes learn together: NAME[:key=value] (one line of help), ..."; only its own help for a
// setting that names nothing registered.
std::string SpecHelp(const ConfigField& field);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_
