#include "experiment/api.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/real/node_device.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_cluster.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

absl::StatusOr<LockedFolder> MakeRunDirectory(const Experiment& experiment,
                                              const RunOptions& options) {
  Config config = experiment.config();
  if (!options.out.empty()) config.set_out(options.out);
  if (options.overwrite) config.set_overwrite(true);
  return RunDirectoryFor(config, absl::Now());
}

absl::StatusOr<std::unique_ptr<Experiment>> WithMeasuredGradients(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::chrono::nanoseconds time, MeasureGradient(experiment));
  Config config = experiment.config();
  config.set_compute(FormatDuration(time));
  return Experiment::Build(config);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Experiment>> MakeExperiment(
    const std::map<std::string, std::string>& settings) {
  ASSIGN_OR_RETURN(ResolvedConfig resolved, ResolveConfig({.flags = settings}));
  if (!settings.contains("memory_bandwidth")) {
    ASSIGN_OR_RETURN(const auto measured, MeasuredMemoryBandwidth(resolved.config));
    if (measured) resolved.config.set_memory_bandwidth(*measured);
  }
  return Experiment::Build(resolved.config);
}

absl::StatusOr<Summary> Train(const Experiment& experiment, RunOptions options) {
  RETURN_IF_ERROR(ValidateForRealNodes({.config = experiment.config()}));
  RETURN_IF_ERROR(CheckDevice(experiment.config()));
  RETURN_IF_ERROR(CheckRecordings(experiment.config()));
  ASSIGN_OR_RETURN(const LockedFolder run, MakeRunDirectory(experiment, options));
  return RunInThreads(experiment,
                      {.run_directory = run.path, .on_metrics = std::move(options.on_metrics)});
}

absl::StatusOr<Summary> Simulate(const Experiment& experiment, RunOptions options) {
  if (!experiment.has_compute()) {
    ASSIGN_OR_RETURN(const auto timed, WithMeasuredGradients(experiment));
    return Simulate(*timed, std::move(options));
  }
  RETURN_IF_ERROR(ValidateForSimulation({.config = experiment.config()}));
  RETURN_IF_ERROR(CheckRecordings(experiment.config()));
  ASSIGN_OR_RETURN(const LockedFolder run, MakeRunDirectory(experiment, options));
  return SimulatedRun(&experiment,
                      {.run_directory = run.path, .on_metrics = std::move(options.on_metrics)})
      .Run();
}

}  // namespace grapevine
