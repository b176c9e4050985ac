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

}  // namespace

void DefineExperiment(CLI::App& command, const std::vector<const ConfigField*>& fields,
                      int& exit_code, ExperimentBody body) {
  const CLI::Option* dry_run =
      command.add_flag("--dry-run")
          ->description("check everything, print each value and where it came from, start nothing");
  const ConfigFlags flags(command, fields);
  OnChosen(command, exit_code, [flags, dry_run, body = std::move(body)] {
    return CarryOut(flags, !dry_run->empty(), body);
  });
}

}  // namespace grapevine
