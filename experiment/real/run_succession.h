// What a node that takes over rank 0's role finds of the run in its run directory: what was
// measured before, if it shares a file system with those who had the role, and otherwise nothing.
//
// Stateless.
#ifndef GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_
#define GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"

namespace grapevine {

struct InheritedRun {
  std::vector<RunMetrics> measured;    // the lines of metrics.jsonl
  std::map<Rank, int64_t> bytes_sent;  // as the nodes' own files say
};

// Removes what a killed process has not written to its end, and writes the configuration where the
// directory has none. kInput or kOutput names the file.
absl::StatusOr<InheritedRun> InheritRun(const std::string& run_directory, const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_
