// The public C++ API: an experiment from its settings, trained by real nodes or simulated.
//
//   ASSIGN_OR_RETURN(const auto experiment, MakeExperiment({{"nodes", "4"}, {"epochs", "2"}}));
//   ASSIGN_OR_RETURN(const Summary trained, Train(*experiment, {.out = "trained"}));
//   ASSIGN_OR_RETURN(const Summary simulated, Simulate(*experiment, {.out = "simulated"}));
//
// What the commands `grapevine train` and `grapevine sim` offer beyond that (processes, several
// machines, sweeps, advice) is in the folders of experiment/.
//
// Thread-safety: an experiment is immutable; each call may run on any thread, and blocks it.
#ifndef GRAPEVINE_EXPERIMENT_API_H_
#define GRAPEVINE_EXPERIMENT_API_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/records/metrics.h"

namespace grapevine {

// Makes an experiment from settings by name, written as on the command line: {"eval_every", "0.5"}
// is --eval-every=0.5. Other settings have their defaults; variables of the environment do not
// count. Errors are kUsage and name the setting as a flag, or kInput and name a file.
absl::StatusOr<std::unique_ptr<Experiment>> MakeExperiment(
    const std::map<std::string, std::string>& settings);

struct RunOptions {
  // The run directory, which is created: a new or an empty folder, or with `overwrite` one that
  // holds an earlier run. Empty: the directory of a command without --out.
  std::string out = "";
  bool overwrite = false;
  // Receives every measurement, on a thread of the run; must not wait.
  std::function<void(const RunMetrics&)> on_metrics = [](const RunMetrics&) {};
};

// Trains with every node on a thread of this process, over gRPC on loopback, and leaves the files
// of `grapevine train`. If a node fails, the others end too; the error is that of the first one. A
// model that learns takes its actual time: `compute` matters only in simulations.
absl::StatusOr<Summary> Train(const Experiment& experiment, RunOptions options = {});

// Simulates the nodes of `experiment`, and leaves the files of `grapevine sim`. Without `compute`,
// a model that learns is charged a gradient's time as measured here, which the files record.
absl::StatusOr<Summary> Simulate(const Experiment& experiment, RunOptions options = {});

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_API_H_
