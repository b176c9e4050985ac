// Run directories (run/records/run_directory.h), and the cells of sweeps, read back for
// reports.
#ifndef GRAPEVINE_REPORT_RUN_READER_H_
#define GRAPEVINE_REPORT_RUN_READER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"

namespace grapevine {

struct RecordedRun {
  std::string path;
  Config config;
  std::vector<RunMetrics> metrics;  // in the order of the file, at least one
};

// Reads one run. A last line without a line break (the run is still going, or
// was killed) is left out. Errors are kInput (kUsage in a configuration) and
// name the file, and the line where there is one.
absl::StatusOr<RecordedRun> ReadRun(const std::string& path);

// `path` itself if it is a run directory, else the run directories in it, in
// the order of their names (the cells of a sweep). kInput when there is none.
absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& path);

struct SweptCell {
  std::string path;
  Config config;
  double seconds_per_round = 0;  // above 0
  int workers = 1;               // nodes that compute gradients

  // Seconds in which all workers together compute as many gradients as there are
  // nodes: fair to methods that keep nodes as servers.
  double seconds_per_gradients() const { return seconds_per_round * config.nodes() / workers; }
  // Where the configuration has them: bits and seconds.
  std::optional<double> bandwidth() const;
  std::optional<double> latency() const;
};

// Every finished cell in `paths` (sweeps, folders of runs, or runs), in the order
// of their names. Cells without a summary.json are left out: they failed, or the
// sweep goes on. Errors are kInput: there is none, or one that is no simulated
// run; they name the folder or the file.
absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_RUN_READER_H_
