// Finds what earlier processes have left in the run directory: what they left of the run, for a
// process that takes over rank 0's role, and what they left of its own rank, for a process that
// comes into the run. These are their measurements, if the process shares a file system with them,
// and otherwise nothing.
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
  std::vector<RunMetrics> measured;    // lines of metrics.jsonl
  std::map<Rank, int64_t> bytes_sent;  // by rank, as the nodes' own files say
};

// Returns what is known of the run. Removes what killed processes have not written to its end, and
// writes the configuration if the directory has none. Errors are kInput or kOutput and name the
// file.
absl::StatusOr<InheritedRun> InheritRun(const std::string& run_directory, const Config& config);

// Checks that a run that has ended after `last` rounds, with the last model evaluated, has its
// results in this directory. If rank 0's role came to this process after that, and the disk is
// another, both the last measurement and the model are missing: kPeerLost says where they are.
// `measured` is the round of the latest measurement that is here.
absl::Status CheckResultsAreHere(const std::string& run_directory, Round measured, Round last);

// Returns what processes of this rank have sent and received, as far as their file says; zero for a
// node whose folder is not here, and while its last line is being written.
EarlierTraffic::Node TrafficOf(const std::string& run_directory, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_RUN_SUCCESSION_H_
