// Lets a run go on with other nodes than its checkpoint has: with more or fewer, or after some of
// them were lost. All nodes begin at the mean of the checkpoint's models, in the round after which
// it was taken, with nothing else that an algorithm keeps (momentum begins at zero). The data are
// dealt among the nodes of the run. The run's plan stays (run_plan.h).
//
// Thread-safety: the functions have no state; those that read files name them in their errors.
#ifndef GRAPEVINE_EXPERIMENT_CORE_OTHER_NODES_H_
#define GRAPEVINE_EXPERIMENT_CORE_OTHER_NODES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_plan.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/checkpoint_files.h"

namespace grapevine {

// Whether this experiment goes on with other nodes than those of the checkpoint, and so begins at
// the mean of their models.
bool BeginsAtMean(const Checkpoint& checkpoint, const Experiment& experiment);

// Returns the checkpoint's averaged model or, if it has none, the mean of the models in its parts.
// At most as many of these are held at once as the tree over them is deep. Errors are kInput; they
// name a file that is missing or is not what was written, and the checkpoint before this one.
absl::StatusOr<SharedVector> MeanOf(const Checkpoint& checkpoint, const Experiment& experiment);

// Returns the model that counts (AlgorithmKind::evaluated), made of the parts that a manifest
// lists: the mean of the workers' models or, if the servers' weights count, these side by side;
// both by ascending rank. Asks `model` for each part when it is needed, and ends with the first
// error of `model`. kInput if the shards do not make up a whole model.
absl::StatusOr<AveragedModel> ModelThatCounts(
    const CheckpointManifest& manifest, const Experiment& experiment,
    const std::function<absl::StatusOr<SharedVector>(Rank)>& model);

// The bytes that nodes sent and received before the run goes on.
struct EarlierTraffic {
  struct Node {
    int64_t bytes_sent = 0;
    int64_t bytes_received = 0;
  };
  std::vector<Node> nodes;      // by rank of this experiment; zero for a new node
  int64_t lost_bytes_sent = 0;  // bytes sent by nodes that are gone
};
EarlierTraffic TrafficUntil(const Checkpoint& checkpoint, const Experiment& experiment);

// Returns how many workers train from which round on, wherever that number has changed, once this
// experiment goes on from the checkpoint; in ascending order of rounds (RunCourse::Among).
std::vector<RunPlan::Living> WorkersSince(const Checkpoint& checkpoint,
                                          const Experiment& experiment);

// Returns the plan of a run that goes on from this checkpoint.
RunPlan PlanFrom(const Checkpoint& checkpoint, const Experiment& experiment);

// Adds to a manifest, whose round must be set, how the number of workers has changed until then.
void AddHistory(const RunPlan& plan, CheckpointManifest* manifest);

// Changes the files of a run that is about to go on with other nodes, as far as they are on this
// disk. The settings become those of this experiment. Nodes that are gone keep nothing that they
// measured or saved after the checkpoint's round, and no model of their own. Errors are kOutput.
absl::Status ChangeNodesOf(const std::string& run, const Checkpoint& checkpoint,
                           const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_OTHER_NODES_H_
