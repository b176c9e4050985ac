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

// Reads one run. A last line without a line break is ignored (the run is still going, or was
// killed). Errors are kInput (kUsage for a configuration) and name the file and, if there is one,
// the line.
absl::StatusOr<RecordedRun> ReadRun(const std::string& path);

// The last line of each node's own metrics, in no order. Nodes that left none here (on another
// machine, or in a simulation without learning) are omitted. Errors as ReadRun's.
absl::StatusOr<std::vector<NodeMetrics>> ReadLastOfNodes(const RecordedRun& run);

// More nodes than a run has that leaves files of each.
inline constexpr int kMostNodeFiles = 10'000;

// The lines of one node's own metrics; none if it left none here. Errors as ReadRun's.
absl::StatusOr<std::vector<NodeMetrics>> ReadNode(const RecordedRun& run, int rank);

// `path` itself if it is a run directory, else the run directories in it: the cells of a sweep in
// the order of its lists, others by name. kInput if there are none.
absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& path);

// Every run in `paths` (run directories, or folders of them). Those in folders that have no
// measurements are left out with a note on standard error, unless none is left.
absl::StatusOr<std::vector<RecordedRun>> ReadRuns(std::span<const std::string> paths);

// Whether the run at `path` has a summary.json: otherwise it failed, or is still running.
bool IsFinishedRun(const std::string& path);

// The summary of the run at `path`, if it is finished. Errors as ReadRun's.
absl::StatusOr<std::optional<Summary>> ReadSummaryIfFinished(const std::string& path);

// What a run came to: the last known value of each measurement; once it is finished, the accuracy
// of the model that it kept, which with --target-accuracy is not the one that was measured last.
RunMetrics Outcome(const RecordedRun& run, const std::optional<Summary>& summary);

struct SweptCell {
  std::string path;
  Config config;
  double seconds_per_round = 0;              // above 0
  int workers = 1;                           // nodes that compute gradients
  std::optional<double> samples_per_s = {};  // by all nodes together, over the whole run

  // Seconds in which all workers together compute as many gradients as there are nodes: fair to
  // methods that use some nodes as servers.
  double seconds_per_gradients() const { return seconds_per_round * config.nodes() / workers; }
  // If the configuration has them: bits a second, and seconds.
  std::optional<double> bandwidth() const;
  std::optional<double> latency() const;
};

// Every finished run in `paths` (sweeps, folders of runs, or runs), by name, real or simulated,
// each by its own clock. Others are omitted; of those in folders, the ones without a time with a
// note on standard error. Errors are kInput and name the folder or the file: there is no finished
// run, or one that was named, or every one, has no time.
absl::StatusOr<std::vector<SweptCell>> ReadFinishedRuns(std::span<const std::string> paths);

// The same of simulated runs alone: one that is not is an error.
absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths);

// The same of those alone that have measurements: the others are omitted likewise.
absl::StatusOr<std::vector<SweptCell>> ReadMeasuredSweep(std::span<const std::string> paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_RUN_READER_H_
