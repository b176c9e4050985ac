// Resolves flags, environment variables and a file to one configuration that records where each
// value came from, and checks that its values make sense, alone and together. Precedence: command
// line > environment > --config file > default.
//
// Specs (of a topology, a model) are checked by the code that builds what they name.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "run/config/resolved_config.h"

namespace grapevine {

struct ConfigSources {
  std::map<std::string, std::string> flags = {};        // field name: text
  std::map<std::string, std::string> environment = {};  // variable: text
  std::optional<std::string> file = {};                 // path of a textproto
  std::optional<std::string> text = {};  // the textproto, if it is only a part of `file`
  // Whether `file` is that of the run that goes on: with another number of nodes, the run keeps the
  // plan for the number in `file`.
  bool resumes = false;
};

// Returns the configuration that the sources give; it is valid (ValidateConfig). Errors are kUsage
// (kInput for an unreadable file) and begin with the origin of the bad value, a flag, a variable or
// FILE:LINE, or name a field that does not exist.
absl::StatusOr<ResolvedConfig> ResolveConfig(const ConfigSources& sources);

// Returns the GRAPEVINE_* variables of this process.
std::map<std::string, std::string> ConfigEnvironment();

// Returns the first problem as kUsage: where the value came from, what is wrong with it, and the
// remedy.
absl::Status ValidateConfig(const ResolvedConfig& resolved);

// Checks what real nodes refuse in addition to ValidateConfig, such as to measure times that are
// made up, or to wait longer for a peer than for a step.
absl::Status ValidateForRealNodes(const ResolvedConfig& resolved);

// Checks what simulated nodes refuse in addition to ValidateConfig: to compute on a GPU.
absl::Status ValidateForSimulation(const ResolvedConfig& resolved);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
