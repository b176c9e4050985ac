// Fields of Config as flags of a command, and their environment variables.
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
#include "run/config/sweep_cells.h"

namespace grapevine {

// Checks the variables of the environment: it may have a variable GRAPEVINE_* for each setting
// (run/config/config_field.h), and the few others that config_flags.cc lists. kUsage for a variable
// that nobody reads, with the nearest one that exists. Pure, safe from any thread.
absl::Status CheckVariables(const std::map<std::string, std::string>& environment);

// Returns the fields under these headings of the help text ("Training", "Cluster").
std::vector<const ConfigField*> FieldsInGroups(std::initializer_list<std::string_view> groups);

// The flags of one command: a value that refers to its options, valid as long as the command.
class ConfigFlags {
 public:
  // Declares a flag for each field on `command`, and --config. With a `condition`, all these flags
  // are refused without that one.
  ConfigFlags(Command command, const std::vector<const ConfigField*>& fields,
              const Flag* condition = nullptr);

  // Returns the configuration: flags over environment over file over defaults, validated, with this
  // program's version and revision. Only after parsing.
  absl::StatusOr<ResolvedConfig> Resolve() const;
  // Returns one configuration for each cell, if flags may be lists (run/config/sweep_cells.h);
  // otherwise as Resolve. `rounds` replaces --rounds if the command does not need it and it is not
  // given.
  absl::StatusOr<std::vector<SweepCell>> ResolveSweep(
      const std::optional<std::string>& rounds = std::nullopt) const;

 private:
  // `join` makes one text of a flag that was given several times.
  ConfigSources Sources(std::string (*join)(const std::vector<std::string>& values)) const;
  // Drops the values that the command has no flag for: a real run has no simulated cluster. Adds
  // this program's version and revision.
  void Complete(Config* config) const;

  std::vector<std::pair<const ConfigField*, Flag>> flags_;
  Flag file_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_FLAGS_CONFIG_FLAGS_H_
