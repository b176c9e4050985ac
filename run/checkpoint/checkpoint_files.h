// The files of a checkpoint: the state of each node, and the manifest, which says of which round
// and of which experiment the checkpoint is, and the size and checksum of every part. A folder
// without a manifest is no checkpoint, whatever else is in it.
//
// A node's state has its vectors as safetensors, its numbers in the metadata, to the bit.
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

// Complete, and with nothing that a manifest cannot say.
absl::StatusOr<CheckpointManifest> ParseManifest(const std::string& name, std::string_view text);
absl::StatusOr<CheckpointManifest> ReadManifest(const std::string& path);

// The ranks whose parts it lists, in the order of `nodes`: ascending.
std::vector<Rank> MembersOf(const CheckpointManifest& manifest);
// The rounds of its own that a node of that part has completed.
Round RoundsIn(const CheckpointManifest& manifest, const CheckpointPart& part);
// The part of one of them.
const CheckpointPart& PartOf(const CheckpointManifest& manifest, Rank rank);

// The size and checksum of a file as it is now.
absl::StatusOr<CheckpointPart> LookAtPart(const std::string& path);
// An error if a file with these bytes is not that part.
absl::Status CheckPart(const std::string& path, std::span<const uint8_t> bytes,
                       const CheckpointPart& part);

// The file appears whole and on the disk, or not at all.
absl::Status WriteNodeState(const std::string& path, Rank rank, const NodeState& state);

// Refuses the state of another rank and, if `part` is given, a file that is not that one.
absl::StatusOr<NodeState> ReadNodeState(const std::string& path, Rank rank,
                                        const CheckpointPart* part = nullptr);

// The model in the state of a rank, whose file is that part; no data if it has none.
absl::StatusOr<SharedVector> ReadNodeModel(const std::string& path, Rank rank,
                                           const CheckpointPart& part);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_CHECKPOINT_FILES_H_
