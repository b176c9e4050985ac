// The variables whose names begin with GRAPEVINE_: one for each setting
// (run/config/config_field.h), and the few others that variables.cc lists.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_CLI_FLAGS_VARIABLES_H_
#define GRAPEVINE_CLI_FLAGS_VARIABLES_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace grapevine {

// kUsage for a variable that nobody reads, with the nearest one that exists.
absl::Status CheckVariables(const std::map<std::string, std::string>& environment);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_VARIABLES_H_
