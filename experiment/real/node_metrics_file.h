// A node's own metrics.jsonl, on a disk that may stall.
//
// A thread of its own writes, so that the node trains on meanwhile. Rank 0 hears of a measurement
// once its line is in the file: a process that takes the node's place counts on from the file, and
// must find there what rank 0 knows.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_METRICS_FILE_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_METRICS_FILE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "node/control/control.pb.h"
#include "run/records/output_file.h"

namespace grapevine {

// Thread-safe. Errors are kOutput, and name the file.
class NodeMetricsFile {
 public:
  using Report = std::function<void(control::NodeMetrics)>;

  // `patience`: how long Drain and Sync wait. `report` is called on the thread that
  // writes, in order, and not once this has been destroyed.
  NodeMetricsFile(std::unique_ptr<LineFile> file, std::chrono::nanoseconds patience, Report report);
  // Gives what waits a few seconds; after that a write that does not return is left to its thread,
  // which ends with the process.
  ~NodeMetricsFile();

  // Never waits. `line` has no line break.
  void Add(std::string line, control::NodeMetrics report);
  // The first error. Never waits. (That the disk stalls, DiskWatch says.)
  absl::Status Check() const;
  // Waits until all lines are in the file, and reported, for `patience` at most.
  absl::Status Drain();
  // The same, and all lines are on the disk.
  absl::Status Sync();

 private:
  class Lines;

  const std::chrono::nanoseconds patience_;
  const std::shared_ptr<Lines> lines_;  // the writing thread's, too
  BackgroundLines writer_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_METRICS_FILE_H_
