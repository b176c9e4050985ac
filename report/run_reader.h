// Run directories (run/records/run_directory.h) read back for reports.
#ifndef GRAPEVINE_REPORT_RUN_READER_H_
#define GRAPEVINE_REPORT_RUN_READER_H_

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

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_RUN_READER_H_
