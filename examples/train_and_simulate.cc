// One experiment, trained by real nodes and simulated, without a command line:
// the library behind `grapevine train` and `grapevine sim` is experiment/.
//
//   train_and_simulate FOLDER
#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"

namespace gv = grapevine;

absl::Status TrainAndSimulate(const std::string& folder) {
  ASSIGN_OR_RETURN(const gv::ResolvedConfig resolved,
                   gv::ResolveConfig({.flags = {{"nodes", "4"},
                                                {"topology", "ring"},
                                                {"model", "mlp:width=32"},
                                                {"data", "synthetic:train=1024:test=256"},
                                                {"epochs", "2"},
                                                {"compute", "5ms"}}}));
  ASSIGN_OR_RETURN(const auto experiment, gv::Experiment::Build(resolved.config));
  for (const char* run : {"/trained", "/simulated"}) {
    std::filesystem::create_directories(folder + run);
  }
  ASSIGN_OR_RETURN(const gv::Summary trained,
                   gv::RunInThreads(*experiment, {.run_directory = folder + "/trained"}));
  ASSIGN_OR_RETURN(
      const gv::Summary simulated,
      gv::SimulatedRun(experiment.get(), {.run_directory = folder + "/simulated"}).Run());
  std::printf("trained:   accuracy %.4f, consensus distance %.6f, %.2f s\n", *trained.test_accuracy,
              *trained.consensus_distance, *trained.wall_time_s);
  std::printf("simulated: accuracy %.4f, consensus distance %.6f, %.2f s\n",
              *simulated.test_accuracy, *simulated.consensus_distance, *simulated.simulated_time_s);
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  const absl::Status status = TrainAndSimulate(argc > 1 ? argv[1] : "runs/example");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
