// A command that carries out an experiment: flags from Config, --config,
// --dry-run, logging. Keeps train, node and sim short.
#ifndef GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/flags/command_line.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// Carries out `resolved`. With `dry_run`, checks everything that could go wrong
// (specs, files, the run directory), may print what would happen, and starts
// nothing; the values and their origins are printed afterwards by the frame, what
// the body fills in by itself with the rest.
using ExperimentBody = std::function<absl::Status(ResolvedConfig& resolved, bool dry_run)>;

// Declares flags for `fields` on `command` and runs `body` when it is chosen.
void DefineExperiment(Command command, const std::vector<const ConfigField*>& fields,
                      ExperimentBody body);

// Likewise for a grid of experiments (run/config/config_resolve.h): at least one cell.
using SweepBody = std::function<absl::Status(std::vector<SweepCell>& cells, bool dry_run)>;
// `rounds` gives the rounds of experiments whose user need not name any.
void DefineSweep(
    Command command, const std::vector<const ConfigField*>& fields, SweepBody body,
    std::function<std::optional<std::string>()> rounds = [] { return std::nullopt; });

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_
