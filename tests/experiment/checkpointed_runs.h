// Small runs that keep checkpoints, for tests that stop them and go on.
#ifndef GRAPEVINE_TESTS_EXPERIMENT_CHECKPOINTED_RUNS_H_
#define GRAPEVINE_TESTS_EXPERIMENT_CHECKPOINTED_RUNS_H_

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"

namespace grapevine {

using Settings = std::map<std::string, std::string>;

// Nine rounds of four nodes with a checkpoint every other one, but for what `settings` say.
inline absl::StatusOr<std::unique_ptr<Experiment>> CheckpointedExperiment(Settings settings) {
  settings.insert({{"nodes", "4"},
                   {"model", "softmax"},
                   {"batch", "8"},
                   {"optimizer", "adam"},
                   {"log_every", "1"},
                   {"eval_every", "0.5"},
                   {"checkpoint_every", "2"},
                   {"compute", "1us"}});
  if (!settings.contains("epochs")) settings.insert({"rounds", "9"});
  if (settings["model"] == "softmax") settings.insert({"data", "synthetic:train=256:test=64"});
  ASSIGN_OR_RETURN(const auto resolved, ResolveConfig({.flags = settings}));
  return Experiment::Build(resolved.config);
}

inline absl::StatusOr<Summary> Train(const std::string& run, const Settings& settings) {
  std::filesystem::create_directories(run);
  ASSIGN_OR_RETURN(const auto experiment, CheckpointedExperiment(settings));
  return RunInThreads(*experiment, {.run_directory = run});
}

inline absl::StatusOr<Summary> Simulate(const std::string& run, const Settings& settings) {
  std::filesystem::create_directories(run);
  ASSIGN_OR_RETURN(const auto experiment, CheckpointedExperiment(settings));
  return SimulatedRun(experiment.get(), {.run_directory = run}).Run();
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_EXPERIMENT_CHECKPOINTED_RUNS_H_
