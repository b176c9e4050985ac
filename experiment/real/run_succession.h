// What a process finds in the run directory of those before it: of the run, if it takes over rank
// 0's role, and of its own rank, if it comes into the run. That is what was measured before, if it
// shares a file system with them, and otherwise nothing.
//
// Stateless.
#ifndef GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_
#define GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/other_nodes.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"

namespace grapevine {

struct InheritedRun {
  std::vector<RunMetrics> measured;    // the lines of metrics.jsonl
  std::map<Rank, int64_t> bytes_sent;  // as the nodes' own files say
};

// Removes what killed processes have not written to its end, and writes the configuration where the
// directory has none. kInput or kOutput names the file.
absl::StatusOr<InheritedRun> InheritRun(const std::string& run_directory, const Config& config);

// Whether a run that has ended after `last` rounds, the last model evaluated, has its results here.
// Where rank 0's role came after that, and the disk is another, there is neither the last
// measurement (of round `measured`) nor the model: kPeerLost says where they are.
absl::Status CheckResultsAreHere(const std::string& run_directory, Round measured, Round last);

// What processes of that rank have sent and received, as far as their file says; nothing of a node
// whose folder is not here, and while its last line is being written.
EarlierTraffic::Node TrafficOf(const std::string& run_directory, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_
