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

  // `patience` is how long Drain and Sync wait. `report` is called on the writing thread, in order,
  // and never after this object has been destroyed.
  NodeMetricsFile(std::unique_ptr<LineFile> file, std::chrono::nanoseconds patience, Report report);
  // Waits a few seconds for pending lines. A write that does not return by then is left to its
  // thread, which ends with the process.
  ~NodeMetricsFile();

  // Appends `line`, which has no line break. Reports `report` once the line is in the file. Never
  // waits.
  void Add(std::string line, control::NodeMetrics report);
  // Returns the first error. Never waits. A disk that stalls is not an error here: DiskWatch
  // notices it.
  absl::Status Check() const;
  // Waits until all lines are in the file, and reported, but no longer than `patience`.
  absl::Status Drain();
  // Waits until all lines are on the disk, and reported, but no longer than `patience`.
  absl::Status Sync();

 private:
  class Lines;

  const std::chrono::nanoseconds patience_;
  const std::shared_ptr<Lines> lines_;  // shared with the writing thread
  BackgroundLines writer_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_METRICS_FILE_H_
