// What becomes of a run when a node is lost: --on-failure, and what fits for each algorithm.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_
#define GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_

#include "absl/status/status.h"
#include "run/chaos/fault_schedule.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Replaces --on-failure=auto. Gossip goes on without the lost (shrink); so does any other run that
// says so by --min-nodes, --max-restarts or --join. A run ends (end) whose checkpoints or record
// are of all its nodes, and one of any other algorithm.
void SettleFailurePolicy(Config* config);

// kUsage where the nodes of the algorithm cannot go on without the lost, or nobody can come into
// the run though something asks for it.
absl::Status CheckFailurePolicy(const Config& config, const FaultSchedule& faults);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_FAILURE_POLICY_H_
