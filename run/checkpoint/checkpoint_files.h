// The files of a checkpoint: the state of each node, and the manifest. The manifest says of which
// round and of which experiment the checkpoint is, and gives the size and checksum of every part. A
// folder without a manifest is no checkpoint, whatever else it contains.
//
// A node's state has its vectors as safetensors and its numbers in the metadata, exact to the bit.
//
// Input is not trusted (model/files/safetensors.h). Errors are kInput or kOutput and name the file.
// Safe from any thread, for different files.
#ifndef GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_FILES_H_
#define GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_FILES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "run/checkpoint/manifest.pb.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {

constexpr int kManifestVersion = 1;

std::string ToText(const CheckpointManifest& manifest);

// Parse a manifest and check that it is complete and that its values can be those of a run.
absl::StatusOr<CheckpointManifest> ParseManifest(const std::string& name, std::string_view text);
absl::StatusOr<CheckpointManifest> ReadManifest(const std::string& path);

// Returns the ranks whose parts the manifest lists, in the order of `nodes`: ascending.
std::vector<Rank> MembersOf(const CheckpointManifest& manifest);
// Returns how many of its own rounds the node of `part` has completed.
Round RoundsIn(const CheckpointManifest& manifest, const CheckpointPart& part);
// Returns the part of `rank`, which must be one of MembersOf(manifest).
const CheckpointPart& PartOf(const CheckpointManifest& manifest, Rank rank);

// Returns the present size and checksum of a file.
absl::StatusOr<CheckpointPart> LookAtPart(const std::string& path);
// Returns an error if a file with these bytes is not the part `part`.
absl::Status CheckPart(const std::string& path, std::span<const uint8_t> bytes,
                       const CheckpointPart& part);

// Writes the state of a node. The file appears whole and on the disk, or not at all.
absl::Status WriteNodeState(const std::string& path, Rank rank, const NodeState& state);

// Reads the state of a node. Refuses the state of another rank and, if `part` is given, a file that
// is not that part.
absl::StatusOr<NodeState> ReadNodeState(const std::string& path, Rank rank,
                                        const CheckpointPart* part = nullptr);

// Reads the model in the state of a rank, whose file must be `part`; no data if it has none.
absl::StatusOr<SharedVector> ReadNodeModel(const std::string& path, Rank rank,
                                           const CheckpointPart& part);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_FILES_H_
