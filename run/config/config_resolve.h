// Resolves flags, environment variables and a file to one configuration that records where each
// value came from. Precedence: command line > environment > --config file > default.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "run/config/resolved_config.h"

namespace grapevine {

struct ConfigSources {
  std::map<std::string, std::string> flags = {};        // field name: text
  std::map<std::string, std::string> environment = {};  // variable: text
  std::optional<std::string> file = {};                 // path of a textproto
  std::optional<std::string> text = {};                 // its content, where it is a part of `file`
};

// Errors are kUsage (kInput for an unreadable file) and begin with the origin of the bad value: a
// flag, a variable or FILE:LINE; or name a field that does not exist. The result is valid
// (run/config/config_validate.h).
absl::StatusOr<ResolvedConfig> ResolveConfig(const ConfigSources& sources);

// The GRAPEVINE_* variables of this process.
std::map<std::string, std::string> ConfigEnvironment();

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
