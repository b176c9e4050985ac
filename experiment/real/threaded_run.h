// A real run in one process: every node on its own thread, over gRPC on loopback.
//
// For programs that are not a node of a cluster and start no processes: examples, tests,
// notebooks. The nodes log and write what `grapevine train` does.
#ifndef GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_
#define GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/records/metrics.h"

namespace grapevine {

struct ThreadedRunOptions {
  std::string run_directory;  // must exist
  // Receives every measurement of the run, on threads of rank 0; must not wait.
  std::function<void(const RunMetrics&)> on_metrics = [](const RunMetrics&) {};
};

// Trains to the end and returns the results. If a node fails, the others end too, and the error is
// that of the first node that failed. Blocks. Safe from any thread.
absl::StatusOr<Summary> RunInThreads(const Experiment& experiment, ThreadedRunOptions options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_
