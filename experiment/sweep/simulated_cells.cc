#include "experiment/sweep/simulated_cells.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_cluster.h"
#include "experiment/simulated/simulated_run.h"
#include "model/problem/problem.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

using Group = std::vector<SweepCell*>;

// Returns groups of cells whose gradients take the same time, for cells without a given time.
std::vector<Group> UntimedGroups(std::vector<SweepCell>* cells) {
  std::map<std::tuple<std::string, std::string, int>, size_t> places;
  std::vector<Group> groups;
  for (SweepCell& cell : *cells) {
    const Config& config = cell.resolved.config;
    if (config.has_compute() || !Learns(config.model())) continue;
    const auto [place, added] =
        places.emplace(std::tuple(config.model(), config.data(), config.batch()), groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(&cell);
  }
  return groups;
}

std::optional<std::string> EarlierTime(const std::string& folder, const Group& group) {
  if (folder.empty()) return std::nullopt;
  for (const SweepCell* cell : group) {
    const absl::StatusOr<ConfigFile> file =
        ReadConfigFile(ConfigPath(CellDirectory(folder, *cell)));
    if (file.ok() && file->config.has_compute()) return file->config.compute();
  }
  return std::nullopt;
}

// Measures the first cell that can be built; returns none if no cell can.
absl::StatusOr<std::optional<std::string>> MeasuredTime(const Group& group, DatasetCache* data,
                                                        const OnMeasured& on_measured) {
  for (const SweepCell* cell : group) {
    const auto experiment = Experiment::Build(cell->resolved.config, data);
    if (!experiment.ok()) continue;
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds time, MeasureGradient(**experiment));
    on_measured(*cell, FormatDuration(time));
    return FormatDuration(time);
  }
  return std::nullopt;
}

}  // namespace

CellRunner SimulatedCells(DatasetCache* data, const std::atomic<bool>* interrupted) {
  return [data, interrupted](const Config& config) -> absl::StatusOr<Summary> {
    ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(config, data));
    ASSIGN_OR_RETURN(const LockedFolder run, CreateRunDirectory(config, absl::Now()));
    return SimulatedRun(
               experiment.get(),
               {.run_directory = run.path, .on_metrics = nullptr, .interrupted = interrupted})
        .Run();
  };
}

absl::Status MeasureGradients(const std::string& folder, DatasetCache* data,
                              const std::atomic<bool>* interrupted, const OnMeasured& on_measured,
                              std::vector<SweepCell>* cells) {
  for (const Group& group : UntimedGroups(cells)) {
    if (interrupted != nullptr && *interrupted) {
      return InterruptedError("interrupted while gradients were measured");
    }
    std::optional<std::string> time = EarlierTime(folder, group);
    if (!time) {
      ASSIGN_OR_RETURN(time, MeasuredTime(group, data, on_measured));
    }
    if (!time) continue;
    for (SweepCell* cell : group) cell->resolved.config.set_compute(*time);
  }
  return absl::OkStatus();
}

}  // namespace grapevine
