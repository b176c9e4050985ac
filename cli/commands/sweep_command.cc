#include "cli/commands/sweep_command.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/terminal/progress.h"
#include "experiment/core/setting_checks.h"
#include "report/sweep_table.h"
#include "report/sweep_winners.h"
#include "run/config/config_field.h"
#include "run/config/resolved_config.h"
#include "run/records/run_directory.h"
#include "run/records/sweep_directory.h"

namespace grapevine {
namespace {

using Summaries = std::vector<absl::StatusOr<Summary>>;

// Returns the cost of each cell; the first of the cells that share a run has the whole cost.
std::vector<double> CostsOf(const std::vector<SweepCell>& cells) {
  std::vector<double> costs(cells.size());
  for (const std::vector<size_t>& shared : SharedCells(cells)) {
    costs[shared.front()] = CellCost(cells[shared.front()].resolved.config);
  }
  return costs;
}

bool Failed(const absl::StatusOr<Summary>& summary) { return !summary.ok(); }

absl::Status InterruptedSweep(const std::vector<SweepCell>& cells, const Summaries& summaries,
                              const std::string& folder) {
  const bool terminated = std::ranges::any_of(summaries, [](const auto& summary) {
    return FailureOf(summary.status()) == Failure::kTerminated;
  });
  const bool overwrites = cells.front().resolved.config.overwrite();
  return WithFailure(absl::CancelledError(absl::StrCat(
                         "interrupted; ", std::ranges::count_if(summaries, Failed), " of ",
                         cells.size(), " cells are left, and the same command with --out=", folder,
                         overwrites ? " and without --overwrite" : "", " resumes the sweep")),
                     terminated ? Failure::kTerminated : Failure::kInterrupted);
}

// Returns an error of the class of the first one, which says how many cells failed.
absl::Status SweepStatus(const std::vector<SweepCell>& cells, const Summaries& summaries) {
  const auto first = std::ranges::find_if(summaries, Failed);
  return WithFailure(absl::Status(first->status().code(),
                                  absl::StrCat(std::ranges::count_if(summaries, Failed), " of ",
                                               cells.size(), " cells failed; the first, ",
                                               cells[first - summaries.begin()].label, ": ",
                                               first->status().message())),
                     FailureOf(first->status()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Experiment>> BuildFirst(const std::vector<SweepCell>& cells,
                                                       DatasetCache* data) {
  absl::Status why;
  for (const SweepCell& cell : cells) {
    absl::StatusOr<std::unique_ptr<Experiment>> built =
        Experiment::Build(cell.resolved.config, data);
    if (built.ok()) return built;
    why.Update(built.status());
  }
  return why;
}

absl::Status CheckCheckpoints(const std::vector<SweepCell>& cells) {
  const ResolvedConfig& resolved = cells.front().resolved;
  for (const char* flag : {"checkpoint_every", "resume"}) {
    if (cells.size() == 1 || !HasField(ConfigFieldNamed(flag), resolved.config)) continue;
    return UsageError(absl::StrCat(Culprit(resolved, flag),
                                   ": a sweep repeats the cells that it has not finished; drop it, "
                                   "or run one of them by itself"));
  }
  return absl::OkStatus();
}

namespace {

absl::Status CheckMatters(const std::vector<SweepCell>& cells, const std::string& field,
                          bool (*matters)(const Config&)) {
  const ResolvedConfig& first = cells.front().resolved;
  if (first.OriginOf(field).source != Source::kCommandLine) return absl::OkStatus();
  const auto in_cell = [matters](const SweepCell& cell) { return matters(cell.resolved.config); };
  if (std::ranges::any_of(cells, in_cell)) return absl::OkStatus();
  return UsageError(absl::StrCat(Culprit(first, field),
                                 ": has no effect: --optimizer=", first.config.optimizer(),
                                 " has nothing of the kind, or its own; drop one of the two"));
}

}  // namespace

absl::Status CheckSettingsMatter(const std::vector<SweepCell>& cells) {
  RETURN_IF_ERROR(CheckMatters(cells, "momentum", MomentumMatters));
  return CheckMatters(cells, "weight_decay", WeightDecayMatters);
}

absl::Status CheckOutput(const std::vector<SweepCell>& cells) {
  const Config& config = cells.front().resolved.config;
  if (cells.size() == 1) {
    absl::Status status = CheckRunDirectory(config);
    return status.ok() ? CheckRecordings(config) : status;
  }
  for (const char* name : {"trace", "record", "profile"}) {
    const ConfigField& field = ConfigFieldNamed(name);
    if (!HasField(field, config)) continue;
    return UsageError(absl::StrCat(FlagName(field), "=", FieldText(field, config), ": a ", name,
                                   " is of one run, not of a sweep of ", cells.size(),
                                   " cells; run one of them"));
  }
  return CheckSweepDirectory(cells);
}

absl::Status CarryOutCells(const std::vector<SweepCell>& cells, SweepRunOptions options,
                           bool live) {
  const std::vector<double> costs = CostsOf(cells);
  SweepProgress progress({.cells = cells.size(),
                          .cost = std::accumulate(costs.begin(), costs.end(), 0.0),
                          .threads = options.threads,
                          .live = live},
                         std::cout);
  options.on_done = [&](const std::vector<size_t>& done, double seconds) {
    progress.OnDone(done.size(), costs[done.front()], seconds);
  };
  const Summaries summaries = RunSweep(cells, options);
  progress.Finish();
  std::vector<SweepRow> rows;
  for (size_t i = 0; i < cells.size(); ++i) rows.push_back({cells[i].coordinates, summaries[i]});
  RETURN_IF_ERROR(WriteSweepTables(options.directory, SweepCsv(rows), SweepText(rows)));
  std::cout << SweepText(rows) << SweepWinners(rows) << "table: " << SweepCsvPath(options.directory)
            << std::endl;
  if (std::ranges::none_of(summaries, Failed)) return absl::OkStatus();
  return *options.interrupted ? InterruptedSweep(cells, summaries, options.directory)
                              : SweepStatus(cells, summaries);
}

}  // namespace grapevine
