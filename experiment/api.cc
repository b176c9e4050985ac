#include "experiment/api.h"

#include <utility>

#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/config/config_validate.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

absl::StatusOr<std::string> MakeRunDirectory(const Experiment& experiment,
                                             const RunOptions& options) {
  Config config = experiment.config();
  if (!options.out.empty()) config.set_out(options.out);
  config.set_overwrite(options.overwrite);
  return CreateRunDirectory(config, absl::Now());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Experiment>> MakeExperiment(
    const std::map<std::string, std::string>& settings) {
  ASSIGN_OR_RETURN(const ResolvedConfig resolved, ResolveConfig({.flags = settings}));
  return Experiment::Build(resolved.config);
}

absl::StatusOr<Summary> Train(const Experiment& experiment, RunOptions options) {
  RETURN_IF_ERROR(ValidateForRealNodes({.config = experiment.config()}));
  ASSIGN_OR_RETURN(std::string run, MakeRunDirectory(experiment, options));
  return RunInThreads(
      experiment, {.run_directory = std::move(run), .on_metrics = std::move(options.on_metrics)});
}

absl::StatusOr<Summary> Simulate(const Experiment& experiment, RunOptions options) {
  RETURN_IF_ERROR(ValidateForSimulation({.config = experiment.config()}));
  ASSIGN_OR_RETURN(std::string run, MakeRunDirectory(experiment, options));
  return SimulatedRun(&experiment, {.run_directory = std::move(run),
                                    .on_metrics = std::move(options.on_metrics)})
      .Run();
}

}  // namespace grapevine
