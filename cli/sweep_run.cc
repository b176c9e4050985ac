#include "cli/sweep_run.h"

#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/dataset_cache.h"
#include "cli/experiment.h"
#include "cli/simulated_run.h"
#include "run/config_file.h"
#include "run/failure.h"
#include "run/run_directory.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

// The summary of an earlier run with exactly this configuration.
std::optional<Summary> FinishedEarlier(const std::string& folder, const Config& config) {
  const absl::StatusOr<ConfigFile> file = ReadConfigFile(ConfigPath(folder));
  if (!file.ok() || ConfigFileText(file->config) != ConfigFileText(config)) return std::nullopt;
  const absl::StatusOr<Summary> summary = ReadSummary(folder);
  if (!summary.ok()) return std::nullopt;
  return *summary;
}

absl::StatusOr<Summary> RunCell(const SweepCell& cell, const SweepRunOptions& options,
                                DatasetCache* data) {
  Config config = cell.resolved.config;
  config.set_out(CellDirectory(options.directory, cell));
  config.set_overwrite(true);
  if (const std::optional<Summary> earlier = FinishedEarlier(config.out(), config)) {
    return *earlier;
  }
  const absl::StatusOr<std::unique_ptr<Experiment>> experiment = Experiment::Build(config, data);
  if (!experiment.ok()) return experiment.status();
  const absl::StatusOr<std::string> folder = CreateRunDirectory(config, absl::Now());
  if (!folder.ok()) return folder.status();
  return SimulatedRun(
             experiment->get(),
             {.run_directory = *folder, .on_metrics = nullptr, .interrupted = options.interrupted})
      .Run();
}

}  // namespace

std::string CellDirectory(const std::string& sweep, const SweepCell& cell) {
  return absl::StrCat(sweep, "/", cell.label);
}

std::vector<absl::StatusOr<Summary>> RunSweep(const std::vector<SweepCell>& cells,
                                              const SweepRunOptions& options) {
  std::vector<absl::StatusOr<Summary>> results(
      cells.size(),
      WithFailure(absl::CancelledError("interrupted before it began"), Failure::kInterrupted));
  DatasetCache data;
  Mutex mutex;
  size_t next = 0;
  size_t done = 0;
  const auto work = [&] {
    while (options.interrupted == nullptr || !*options.interrupted) {
      size_t mine;
      {
        MutexLock lock(mutex);
        if (next == cells.size()) return;
        mine = next++;
      }
      absl::StatusOr<Summary> result = RunCell(cells[mine], options, &data);
      MutexLock lock(mutex);
      results[mine] = std::move(result);
      if (options.on_progress) options.on_progress(++done, cells.size());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace grapevine
