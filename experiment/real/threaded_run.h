// A real run in one process: every node on a thread of its own, over gRPC on the loopback.
//
// For programs that are no node of a cluster and start no processes: examples, tests,
// notebooks. What the nodes say and write is what `grapevine train` leaves.
#ifndef GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_
#define GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/records/metrics.h"

namespace grapevine {

struct ThreadedRunOptions {
  std::string run_directory;  // exists
  // Every measurement of the run, from threads of rank 0's; must not wait.
  std::function<void(const RunMetrics&)> on_metrics = [](const RunMetrics&) {};
};

// Trains to the end and reads the results. When a node fails the others end too; the error
// is that of the first that did. Blocks; any thread.
absl::StatusOr<Summary> RunInThreads(const Experiment& experiment, ThreadedRunOptions options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_THREADED_RUN_H_
