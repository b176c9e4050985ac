// The checkpoints of a run, in its directory:
//
//   checkpoints/round-200/node-RANK.safetensors   each node's state (checkpoint_files.h)
//                         model.safetensors       the averaged model
//                         manifest.textproto      written last: makes the checkpoint valid
//                                                 (checkpoint_files.h)
//
// A checkpoint is written in two phases: first all parts, each fsynced, then the manifest, fsynced.
// A checkpoint that has a manifest is therefore whole, no matter which process is killed when. It
// is removed in the reverse order.
//
// The nodes of a real run write their own parts, possibly on disks of their own. Rank 0 alone
// writes and removes manifests, and a node removes its own parts.
//
// Input is not trusted. Errors about what is written are kOutput, errors about what is read kInput;
// they name the path. Thread-safety: one thread at a time for a run, over all processes, except
// that different parts may be written at the same time, and a node's own parts may be removed.
#ifndef GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
#define GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_DIRECTORY_H_

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/checkpoint/node_state.h"
#include "system/file.h"

namespace grapevine {

// The number of complete checkpoints that are kept: the last one may turn out to be damaged.
constexpr int kKeptCheckpoints = 2;

std::string CheckpointPath(const std::string& run, Round round);
std::string NodePartPath(const std::string& checkpoint, Rank rank);
std::string ModelPartPath(const std::string& checkpoint);

// Creates an empty folder for a checkpoint of this round, in place of one that was not completed or
// that is written again. Returns its path.
absl::StatusOr<std::string> BeginCheckpoint(const std::string& run, Round round);

// Opens the folder of a checkpoint of this round for one of many writers, and creates it if it is
// missing. Its files stay, except the unfinished files of processes that died while they wrote
// there. Returns its path.
absl::StatusOr<std::string> OpenCheckpoint(const std::string& run, Round round);

// Phase one: writes a node's part to the disk. Returns its size and checksum.
absl::StatusOr<CheckpointPart> WriteNodePart(const std::string& checkpoint, Rank rank,
                                             const NodeState& state);

// Phase two: writes the manifest; all parts must be on the disk. Then removes older checkpoints,
// except the last kKeptCheckpoints.
absl::Status CompleteCheckpoint(const std::string& run, const std::string& checkpoint,
                                const CheckpointManifest& manifest, const WriteGuard& guard = {});

// Removes a checkpoint, whether it is complete or not. Its folder stays if somebody else has put a
// file there.
absl::Status RemoveCheckpoint(const std::string& checkpoint);

// Removes the checkpoints that were never completed. Must be called at the end of a run, when no
// process writes any more.
absl::Status RemoveIncompleteCheckpoints(const std::string& run);

// Removes the checkpoints of rounds after `round`. Called before a run goes on from `round`: later
// checkpoints are of a past that the run leaves behind.
absl::Status RemoveCheckpointsAfter(const std::string& run, Round round);

// Removes the manifests of the checkpoints of rounds after `round`, which are no checkpoints any
// more then: the first step of RemoveCheckpointsAfter, where nodes remove their own parts.
absl::Status InvalidateCheckpointsAfter(const std::string& run, Round round);
// Removes a node's own parts of the checkpoints for which `keep` returns false, and the unfinished
// files that were left of writing them.
absl::Status RemoveNodeParts(const std::string& run, Rank rank,
                             const std::function<bool(Round)>& keep);

struct Checkpoint {
  std::string path;
  CheckpointManifest manifest;
};

// Returns the directory of the run that `path` is, or of which `path` is a checkpoint, by its name.
std::string RunOf(const std::string& path);

// Whether the run has checkpoints, complete or not.
bool HasCheckpoints(const std::string& run);

// Returns the checkpoint that `path` itself is, or the last complete one of the run at `path`: of
// those before round `before` if there are any, else of all. Errors about its manifest name the
// checkpoint before it.
absl::StatusOr<Checkpoint> FindCheckpoint(const std::string& path,
                                          Round before = std::numeric_limits<Round>::max());

// Reads the state of a node and checks it against the manifest. `rank` must be one of the
// manifest's nodes. Errors name the checkpoint before it.
absl::StatusOr<NodeState> ReadNodePart(const Checkpoint& checkpoint, Rank rank);

// Reads the model in a node's part; no data if the node has none. Checks it and reports errors like
// ReadNodePart.
absl::StatusOr<SharedVector> ReadModelInPart(const Checkpoint& checkpoint, Rank rank);
// Reads the averaged model, which the manifest must list, into `replica`, which must be of this
// layout. Checks it and reports errors like ReadNodePart.
absl::Status ReadModelPart(const Checkpoint& checkpoint, const ReplicaLayout& layout,
                           float* replica);

// Returns a node's own parts in the run at `path`, or in the checkpoint that `path` is, complete or
// not, by round.
absl::StatusOr<std::map<Round, CheckpointPart>> NodePartsIn(const std::string& path, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
