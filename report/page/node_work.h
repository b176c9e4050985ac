// What each node of a run did with its time, as the run's files have it.
//
// Safe from any thread; the run's files are read.
#ifndef GRAPEVINE_REPORT_PAGE_NODE_WORK_H_
#define GRAPEVINE_REPORT_PAGE_NODE_WORK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "report/run_reader.h"

namespace grapevine {

// In seconds over the whole run. A node that mixes while it computes a gradient does both.
struct NodeWorkTimes {
  Rank rank = 0;
  double gradient_s = 0;
  double mix_s = 0;
  double wait_s = 0;
};

// By rank, at least one: of a simulated run those that its statistics.json lists, else those whose
// own metrics are here. kInput if there are none, or a file is broken.
absl::StatusOr<std::vector<NodeWorkTimes>> ReadNodeWork(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_NODE_WORK_H_
