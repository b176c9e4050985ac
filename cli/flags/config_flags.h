// Fields of Config as flags of a command, and the variables beside them.
#ifndef GRAPEVINE_CLI_FLAGS_CONFIG_FLAGS_H_
#define GRAPEVINE_CLI_FLAGS_CONFIG_FLAGS_H_

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/flags/command_line.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// The variables whose names begin with GRAPEVINE_ are one for each setting
// (run/config/config_field.h), and the few others that config_flags.cc lists. Pure, safe
// from any thread. kUsage for a variable that nobody reads, with the nearest one that
// exists.
absl::Status CheckVariables(const std::map<std::string, std::string>& environment);

// The fields under these headings of the help text ("Training", "Cluster").
std::vector<const ConfigField*> FieldsInGroups(std::initializer_list<std::string_view> groups);

// The flags of one command: a value that refers to its options, so that it is
// good for as long as the command is.
class ConfigFlags {
 public:
  // Declares a flag for each field on `command`, and --config.
  ConfigFlags(Command command, const std::vector<const ConfigField*>& fields);

  // After parsing: flags over environment over file over defaults, validated,
  // with this program's version and revision.
  absl::StatusOr<ResolvedConfig> Resolve() const;
  // The same where flags may be lists (run/config/config_resolve.h). `rounds` stands for --rounds
  // where the command needs no number of them and none is given.
  absl::StatusOr<std::vector<SweepCell>> ResolveSweep(
      const std::optional<std::string>& rounds = std::nullopt) const;

 private:
  ConfigSources Sources() const;
  // What the command has no flag for is not kept: a real run has no simulated
  // cluster. Adds this program's version and revision.
  void Complete(Config* config) const;

  std::vector<std::pair<const ConfigField*, Flag>> flags_;
  Flag file_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_CONFIG_FLAGS_H_
