// The frame of a command that carries out experiments: flags from Config, --config, --dry-run,
// logging. Keeps train, node and sim short.
#ifndef GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/flags/command_line.h"
#include "run/config/config_field.h"
#include "run/config/resolved_config.h"
#include "run/config/sweep_cells.h"

namespace grapevine {

// Carries out `resolved`. With `dry_run`, checks everything that could go wrong (specs, files,
// the run directory), may print what would happen, and starts nothing; the frame then prints the
// values with their origins, including those that the body has filled in.
using ExperimentBody = std::function<absl::Status(ResolvedConfig& resolved, bool dry_run)>;

// Declares flags for `fields` on `command` and runs `body` when it is chosen.
void DefineExperiment(Command command, const std::vector<const ConfigField*>& fields,
                      ExperimentBody body);

// Carries out a grid of experiments (run/config/sweep_cells.h), of at least one cell; `dry_run` is
// as for an ExperimentBody.
using SweepBody = std::function<absl::Status(std::vector<SweepCell>& cells, bool dry_run)>;
// Declares flags for `fields`, which may be lists, on `command` and runs `body` when it is chosen.
// `rounds` supplies the number of rounds if the user need not give it.
void DefineSweep(
    Command command, const std::vector<const ConfigField*>& fields, SweepBody body,
    std::function<std::optional<std::string>()> rounds = [] { return std::nullopt; });

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_EXPERIMENT_COMMAND_H_
