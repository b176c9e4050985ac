// Says what becomes of a run when a node is lost: what --on-failure says, or what fits the other
// settings if that is auto.
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

// Whether the other nodes go on without a node that is lost. With auto, the other settings decide,
// and files keep auto for that reason. A run whose checkpoints or record are of all its nodes ends.
// Otherwise gossip and asynchronous servers go on, and so does a run that asks for it by
// --min-nodes, --max-restarts or --join.
bool GoesOnWithoutTheLost(const Config& config);

// Whether a run with fewer nodes than LeastNodes waits for others to come in: --on-failure=wait.
bool WaitsForOthers(const Config& config);

// Returns the number of nodes below which the run ends or waits: --min-nodes, or all nodes if they
// wait for others. Absent if no setting says how few may go on (algorithm/membership/quorum.h).
std::optional<Rank> LeastNodes(const Config& config);

// Whether `train` begins the run again, with all nodes from the last checkpoint, when a node is
// lost: with --max-restarts, if the run keeps checkpoints and does not go on without lost nodes.
bool BeginsAgain(const Config& config);

// Returns kUsage if the nodes of the algorithm cannot go on without lost nodes, or no node can come
// into the run, although a setting asks for it. The message names that setting.
absl::Status CheckFailurePolicy(const Config& config, const FaultSchedule& faults);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_
