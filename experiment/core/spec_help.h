// The help of a setting, with all that its spec may name: the registries know it.
//
// Pure functions over the registries, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_
#define GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_

#include <string>

#include "run/config/config_field.h"

namespace grapevine {

// "how nodes learn together: NAME[:key=value] (one line of help), ..."; of a setting that
// names nothing registered, its own help alone.
std::string SpecHelp(const ConfigField& field);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_
