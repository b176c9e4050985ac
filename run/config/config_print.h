// A resolved configuration for people: every value and where it came from.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_PRINT_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_PRINT_H_

#include <string>

#include "run/config/resolved_config.h"

namespace grapevine {

// One line a value, under the headings of the help text; fields without a
// value are left out.
std::string PrintResolved(const ResolvedConfig& resolved);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_PRINT_H_
