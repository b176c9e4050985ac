// Resolves flags, environment variables and a file to one configuration that records where each
// value came from. Precedence: command line > environment > --config file > default.
//
// Lists span a grid of configurations: `--topology=ring,torus --nodes=4,8` gives four.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// One configuration of a grid.
struct SweepCell {
  ResolvedConfig resolved;
  // What distinguishes it, in the order of config.proto: {"topology", "ring"}.
  std::vector<std::pair<std::string, std::string>> coordinates;
  // The same as the name of a folder: "topology=ring_nodes=4".
  std::string label;
};

// The fields that may hold a list: topology, algorithm, nodes, bandwidth,
// latency, straggler, seed.
bool IsSweepable(const std::string& field);

// All combinations of the lists among the flags and the environment, the last field varying
// fastest; a single cell without a label if there is no list. Errors are those of ResolveConfig
// for the first bad cell, or kUsage for an empty element or more than kMaxCells cells.
absl::StatusOr<std::vector<SweepCell>> ResolveSweep(const ConfigSources& sources);

inline constexpr size_t kMaxCells = 100'000;

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_RESOLVE_H_
