// What each node of a run did with its time, according to the run's files.
//
// Safe from any thread; reads the run's files.
#ifndef GRAPEVINE_REPORT_PAGE_NODE_WORK_H_
#define GRAPEVINE_REPORT_PAGE_NODE_WORK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "report/run_reader.h"

namespace grapevine {

// Seconds over the whole run. The time in which a node mixes while it computes a gradient counts as
// both.
struct NodeWorkTimes {
  Rank rank = 0;
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
};

// Returns the times by rank, at least one: for a simulated run the nodes that its statistics.json
// lists, else the nodes whose own metrics are here. kInput if no node is known, or a file is
// broken.
absl::StatusOr<std::vector<NodeWorkTimes>> ReadNodeWork(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_NODE_WORK_H_
