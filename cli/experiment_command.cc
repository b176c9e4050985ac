#include "cli/experiment_command.h"

#include <iostream>
#include <utility>

#include "absl/status/statusor.h"
#include "cli/command_line.h"
#include "cli/config_flags.h"
#include "cli/logging.h"
#include "run/config_print.h"

namespace grapevine {
namespace {

absl::Status CarryOut(const ConfigFlags& flags, bool dry_run, const ExperimentBody& body) {
  const absl::StatusOr<ResolvedConfig> resolved = flags.Resolve();
  if (!resolved.ok()) return resolved.status();
  ConfigureLogging(resolved->config);
  if (absl::Status status = body(*resolved, dry_run); !status.ok()) return status;
  if (dry_run) std::cout << "\n" << PrintResolved(*resolved);
  return absl::OkStatus();
}

absl::Status CarryOutSweep(const ConfigFlags& flags, bool dry_run, const SweepBody& body,
                           const std::optional<std::string>& rounds) {
  absl::StatusOr<std::vector<SweepCell>> cells = flags.ResolveSweep(rounds);
  if (!cells.ok()) return cells.status();
  ConfigureLogging(cells->front().resolved.config);
  const ResolvedConfig first = cells->front().resolved;
  if (absl::Status status = body(*std::move(cells), dry_run); !status.ok()) return status;
  if (dry_run) std::cout << "\n" << PrintResolved(first);
  return absl::OkStatus();
}

// Declares --dry-run and the flags; `carry_out` runs when the command is chosen.
void Define(CLI::App& command, const std::vector<const ConfigField*>& fields, int& exit_code,
            std::function<absl::Status(const ConfigFlags&, bool dry_run)> carry_out) {
  const CLI::Option* dry_run =
      command.add_flag("--dry-run")
          ->description("check everything, print each value and where it came from, start nothing");
  const ConfigFlags flags(command, fields);
  OnChosen(command, exit_code, [flags, dry_run, carry_out = std::move(carry_out)] {
    return carry_out(flags, !dry_run->empty());
  });
}

}  // namespace

void DefineExperiment(CLI::App& command, const std::vector<const ConfigField*>& fields,
                      int& exit_code, ExperimentBody body) {
  Define(command, fields, exit_code,
         [body = std::move(body)](const ConfigFlags& flags, bool dry_run) {
           return CarryOut(flags, dry_run, body);
         });
}

void DefineSweep(CLI::App& command, const std::vector<const ConfigField*>& fields, int& exit_code,
                 SweepBody body, std::function<std::optional<std::string>()> rounds) {
  Define(
      command, fields, exit_code,
      [body = std::move(body), rounds = std::move(rounds)](const ConfigFlags& flags, bool dry_run) {
        return CarryOutSweep(flags, dry_run, body, rounds());
      });
}

}  // namespace grapevine
