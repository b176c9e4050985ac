// The checkpoints of a run, in its directory:
//
//   checkpoints/round-200/node-RANK.safetensors   each node's state (checkpoint_files.h)
//                         model.safetensors       the averaged model
//                         manifest.textproto      last: makes it valid (likewise)
//
// They are written in two phases: first all parts, each fsynced, then the manifest, fsynced. So
// whatever is killed when, a checkpoint that has a manifest is whole. One is removed the other way
// round.
//
// The nodes of a real run write their own parts, maybe on disks of their own; rank 0 alone writes
// and removes manifests, and a node removes its own parts.
//
// Input is not trusted. Errors about what is written are kOutput, about what is read kInput; they
// name the path. Thread-safety: one thread at a time for a run, over all processes, save that
// different parts may be written at the same time, and a node's own be removed.
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

// So many are kept: the last one may turn out to be damaged.
constexpr int kKeptCheckpoints = 2;

std::string CheckpointPath(const std::string& run, Round round);
std::string NodePartPath(const std::string& checkpoint, Rank rank);
std::string ModelPartPath(const std::string& checkpoint);

// An empty folder for one of this round, in place of one that was not completed or that is written
// again. Returns its path.
absl::StatusOr<std::string> BeginCheckpoint(const std::string& run, Round round);

// The same for one of many writers: what is there stays, save what processes that died while they
// wrote it have left unfinished.
absl::StatusOr<std::string> OpenCheckpoint(const std::string& run, Round round);

// Phase one: a node's part, on the disk.
absl::StatusOr<CheckpointPart> WriteNodePart(const std::string& checkpoint, Rank rank,
                                             const NodeState& state);

// Phase two: all parts are on the disk. Then older checkpoints are removed, but for the last ones.
absl::Status CompleteCheckpoint(const std::string& run, const std::string& checkpoint,
                                const CheckpointManifest& manifest, const WriteGuard& guard = {});

// Whether it is complete or not; its folder stays if somebody else has put a file there.
absl::Status RemoveCheckpoint(const std::string& checkpoint);

// At the end of a run, when nobody writes any more: what was never completed.
absl::Status RemoveIncompleteCheckpoints(const std::string& run);

// Before a run goes on from `round`: what it had saved later is of a past that it leaves behind.
absl::Status RemoveCheckpointsAfter(const std::string& run, Round round);

// The first step of that, where nodes remove their own parts: later ones are no checkpoints any
// more.
absl::Status InvalidateCheckpointsAfter(const std::string& run, Round round);
// A node's own parts of the checkpoints that `keep` is false for, and what was left of writing
// them.
absl::Status RemoveNodeParts(const std::string& run, Rank rank,
                             const std::function<bool(Round)>& keep);

struct Checkpoint {
  std::string path;
  CheckpointManifest manifest;
};

// The directory of the run that `path` is, or of which `path` is a checkpoint, by its name.
std::string RunOf(const std::string& path);

// Whether there are some in that run, complete or not.
bool HasCheckpoints(const std::string& run);

// The last complete one of the run at `path`, of those before round `before` if there are any; or
// the one that `path` itself is. Errors about its manifest name the checkpoint before it.
absl::StatusOr<Checkpoint> FindCheckpoint(const std::string& path,
                                          Round before = std::numeric_limits<Round>::max());

// Checked against the manifest; `rank` is one of its nodes. Errors name the checkpoint before it.
absl::StatusOr<NodeState> ReadNodePart(const Checkpoint& checkpoint, Rank rank);

// The model in a node's part, likewise; no data if it has none.
absl::StatusOr<SharedVector> ReadModelInPart(const Checkpoint& checkpoint, Rank rank);
// The averaged model, which the manifest lists; `replica` is of this layout. Likewise.
absl::Status ReadModelPart(const Checkpoint& checkpoint, const ReplicaLayout& layout,
                           float* replica);

// A node's own parts in the run at `path`, or in the checkpoint that it is, complete or not.
absl::StatusOr<std::map<Round, CheckpointPart>> NodePartsIn(const std::string& path, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
