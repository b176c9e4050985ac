#include "cli/commands/experiment_command.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/flags/config_flags.h"
#include "cli/terminal/logging.h"
#include "cli/terminal/out_of_memory.h"
#include "experiment/core/setting_checks.h"
#include "run/config/config.pb.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

// Sets how the program logs, and how it ends if memory runs out.
void Prepare(const Config& config) {
  ConfigureLogging(config);
  const std::string last = absl::StrCat("grapevine: ", OutOfMemoryText(config));
  EndWhenOutOfMemory((config.log_format() == "json" ? JsonLine("error", last) : last) + "\n");
}

std::string Settings(const ResolvedConfig& resolved, bool uses_graph) {
  std::set<std::string> idle;
  if (!uses_graph) idle = {"topology", "mixing"};
  return PrintResolved(resolved, idle);
}

absl::Status CarryOut(const ConfigFlags& flags, bool dry_run, const ExperimentBody& body) {
  ASSIGN_OR_RETURN(ResolvedConfig resolved, flags.Resolve());
  Prepare(resolved.config);
  if (resolved.config.log_format() == "json") UseJsonLines(std::cout, "info");
  if (absl::Status status = body(resolved, dry_run); !status.ok()) {
    return NamingOrigin(resolved, status);
  }
  if (dry_run) std::cout << "\n" << Settings(resolved, UsesGraph(resolved.config));
  return absl::OkStatus();
}

absl::Status CarryOutSweep(const ConfigFlags& flags, bool dry_run, const SweepBody& body,
                           const std::optional<std::string>& rounds) {
  ASSIGN_OR_RETURN(std::vector<SweepCell> cells, flags.ResolveSweep(rounds));
  Prepare(cells.front().resolved.config);
  if (absl::Status status = body(cells, dry_run); !status.ok()) {
    return NamingOrigin(cells.front().resolved, status);
  }
  if (!dry_run) return absl::OkStatus();
  const bool uses_graph = std::ranges::any_of(
      cells, [](const SweepCell& cell) { return UsesGraph(cell.resolved.config); });
  std::cout << "\n" << Settings(cells.front().resolved, uses_graph);
  return absl::OkStatus();
}

// Declares --dry-run and the flags; `carry_out` runs when the command is chosen.
void Define(Command command, const std::vector<const ConfigField*>& fields,
            std::function<absl::Status(const ConfigFlags&, bool dry_run)> carry_out) {
  const Flag dry_run = command.AddSwitch(
      {.names = "--dry-run",
       .help = "check settings, data and that files can be written, print each value and where it "
               "came from, start nothing"});
  const ConfigFlags flags(command, fields);
  command.OnChosen([flags, dry_run, carry_out = std::move(carry_out)] {
    return carry_out(flags, dry_run.given());
  });
}

}  // namespace

void DefineExperiment(Command command, const std::vector<const ConfigField*>& fields,
                      ExperimentBody body) {
  Define(command, fields, [body = std::move(body)](const ConfigFlags& flags, bool dry_run) {
    return CarryOut(flags, dry_run, body);
  });
}

void DefineSweep(Command command, const std::vector<const ConfigField*>& fields, SweepBody body,
                 std::function<std::optional<std::string>()> rounds) {
  Define(
      command, fields,
      [body = std::move(body), rounds = std::move(rounds)](const ConfigFlags& flags, bool dry_run) {
        return CarryOutSweep(flags, dry_run, body, rounds());
      });
}

}  // namespace grapevine
