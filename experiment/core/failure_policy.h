// What becomes of a run when a node is lost: --on-failure, and what fits where that is auto.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_
#define GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_

#include <optional>

#include "absl/status/status.h"
#include "base/ids.h"
#include "run/chaos/fault_schedule.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Whether the others go on without a node that is lost. Of auto, which files keep, since what fits
// follows from the other settings: a run whose checkpoints or record are of all its nodes ends;
// else gossip and asynchronous servers go on, and so does what asks for it by --min-nodes,
// --max-restarts or --join.
bool GoesOnWithoutTheLost(const Config& config);

// Whether fewer than LeastNodes wait for others to come in: --on-failure=wait.
bool WaitsForOthers(const Config& config);

// With fewer the run ends, or waits: --min-nodes, or all nodes where they wait. None: nobody has
// said how few may go on (algorithm/membership/quorum.h).
std::optional<Rank> LeastNodes(const Config& config);

// Whether `train` begins the run again, with all nodes from the last checkpoint, when one is lost:
// --max-restarts, where the run keeps checkpoints and does not go on without the lost.
bool BeginsAgain(const Config& config);

// kUsage where the nodes of the algorithm cannot go on without the lost, or nobody can come into
// the run, though something asks for it: the message names what does.
absl::Status CheckFailurePolicy(const Config& config, const FaultSchedule& faults);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_
