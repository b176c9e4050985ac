// A configuration as text: the file of --config, a run's config.textproto, and the text by which
// two nodes, or two run directories, compare their configurations.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_FILE_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct ConfigFile {
  Config config;                    // values in canonical form
  std::map<std::string, int> line;  // line of each field that is set, by name; 1-based
};

// Reads a textproto of Config. A missing file is kInput; unknown or repeated fields and bad values
// are kUsage and begin with FILE:LINE.
absl::StatusOr<ConfigFile> ReadConfigFile(const std::string& path);
// Parses a textproto of Config that is part of another file; see ReadConfigFile. Errors call the
// text `name`.
absl::StatusOr<ConfigFile> ParseConfigText(const std::string& name, std::string_view text);

// Returns the textproto that describes the run: all values that are set, except those about where
// this process runs and where it writes (section CLUSTER).
std::string ConfigFileText(const Config& config);

// Returns the fields of section EXPERIMENT as "name=value" lines, defaults included. Equal texts
// mean the same experiment.
std::string ExperimentText(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_FILE_H_
