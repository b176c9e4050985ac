// Reads run directories (run/records/run_directory.h), and the cells of sweeps, for reports.
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
  std::vector<RunMetrics> metrics;  // in file order, at least one
};

// Reads one run. Ignores a last line without a line break (the run is still going, or was killed).
// Errors are kInput (kUsage for a configuration) and name the file and, if any, the line.
absl::StatusOr<RecordedRun> ReadRun(const std::string& path);

// Returns the last line of each node's own metrics, in no particular order. Omits nodes that left
// none here (on another machine, or in a simulation without learning). Errors are those of ReadRun.
absl::StatusOr<std::vector<NodeMetrics>> ReadLastOfNodes(const RecordedRun& run);

// More nodes than any run has that leaves files of each node.
inline constexpr int kMostNodeFiles = 10'000;

// Returns the lines of one node's own metrics; empty if the node left none here. Errors are those
// of ReadRun.
absl::StatusOr<std::vector<NodeMetrics>> ReadNode(const RecordedRun& run, int rank);

// Returns `path` itself if it is a run directory, else the run directories in it: the cells of a
// sweep in the order of its lists, others by name. kInput if the folder has none.
absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& path);

// Reads every run in `paths` (run directories, or folders of them). Leaves out runs in folders that
// have no measurements, with a note on standard error; it is an error if no run is left.
absl::StatusOr<std::vector<RecordedRun>> ReadRuns(std::span<const std::string> paths);

// Returns whether the run at `path` has a summary.json: a run without one failed, or is still
// running.
bool IsFinishedRun(const std::string& path);

// Returns the summary of the run at `path`; absent unless the run is finished. Errors are those of
// ReadRun.
absl::StatusOr<std::optional<Summary>> ReadSummaryIfFinished(const std::string& path);

// Returns the outcome of a run: the last known value of each measurement. The accuracy of a
// finished run is that of the model that it kept, which with --target-accuracy is not the one that
// was measured last.
RunMetrics Outcome(const RecordedRun& run, const std::optional<Summary>& summary);

struct SweptCell {
  std::string path;
  Config config;
  double seconds_per_round = 0;              // above 0
  int workers = 1;                           // nodes that compute gradients
  std::optional<double> samples_per_s = {};  // by all nodes together, over the whole run

  // Returns the seconds in which all workers together compute as many gradients as the run has
  // nodes: a measure that is fair to methods that use some nodes as servers.
  double seconds_per_gradients() const { return seconds_per_round * config.nodes() / workers; }
  // The bandwidth in bits per second and the latency in seconds; absent if the configuration has
  // none.
  std::optional<double> bandwidth() const;
  std::optional<double> latency() const;
};

// Returns every finished run in `paths` (sweeps, folders of runs, or runs), in the order of
// FindRuns, real or simulated, each with the time of its own clock. Omits unfinished runs, and with
// a note on standard error runs in folders that have no time. Errors are kInput and name the folder
// or the file: no run is finished, or a run that was named itself, or every run, has no time.
absl::StatusOr<std::vector<SweptCell>> ReadFinishedRuns(std::span<const std::string> paths);

// Returns finished runs as ReadFinishedRuns does, if all are simulated; a run that is not is an
// error.
absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths);

// Returns the runs of ReadSweep that have measurements. Runs without measurements are treated as
// ReadFinishedRuns treats runs without a time.
absl::StatusOr<std::vector<SweptCell>> ReadMeasuredSweep(std::span<const std::string> paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_RUN_READER_H_
