// A run that goes on with other nodes than its checkpoint has: with more or fewer, or after some of
// them were lost. All begin at the mean of the checkpoint's models, with nothing else that an
// algorithm keeps (momentum begins at zero), in the round after which it was taken; the data are
// dealt among those who are there. The run's plan stays (run_plan.h).
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

// Whether this experiment goes on with other nodes than those of the checkpoint.
bool BeginsAtMean(const Checkpoint& checkpoint, const Experiment& experiment);

// The checkpoint's averaged model, or, where it has none, the mean of the models in its parts: of
// those, as many are held at once as the tree over them is deep. Errors are kInput; they name a
// file that is missing or is not what was written, and the checkpoint before.
absl::StatusOr<SharedVector> MeanOf(const Checkpoint& checkpoint, const Experiment& experiment);

// The model that counts (AlgorithmKind::evaluated) of the parts that a manifest lists: the mean of
// the workers' models or, of the servers' weights, these side by side; both by ascending rank.
// `model` is asked for each when it is its turn; its first error ends it. kInput where shards are
// not a whole.
absl::StatusOr<AveragedModel> ModelThatCounts(
    const CheckpointManifest& manifest, const Experiment& experiment,
    const std::function<absl::StatusOr<SharedVector>(Rank)>& model);

// What nodes had sent and received before.
struct EarlierTraffic {
  struct Node {
    int64_t bytes_sent = 0;
    int64_t bytes_received = 0;
  };
  std::vector<Node> nodes;      // by rank of this experiment; nothing of one that is new
  int64_t lost_bytes_sent = 0;  // by those that are no more
};
EarlierTraffic TrafficUntil(const Checkpoint& checkpoint, const Experiment& experiment);

// How many workers train from which round on, where that has changed, once this experiment goes on
// from the checkpoint; ascending (RunCourse::Among).
std::vector<RunPlan::Living> WorkersSince(const Checkpoint& checkpoint,
                                          const Experiment& experiment);

// The plan of a run that goes on from there.
RunPlan PlanFrom(const Checkpoint& checkpoint, const Experiment& experiment);

// What a checkpoint of this round says of that.
void AddHistory(const RunPlan& plan, CheckpointManifest* manifest);

// Before the run goes on with other nodes: its settings are now these, and nodes that are no more
// have neither measured nor saved anything after the checkpoint's round, nor a model of their own,
// as far as this disk has their files. Errors are kOutput.
absl::Status ChangeNodesOf(const std::string& run, const Checkpoint& checkpoint,
                           const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_OTHER_NODES_H_
