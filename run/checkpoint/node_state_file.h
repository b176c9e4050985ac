// A node's state in a file: its vectors as safetensors, its numbers in the metadata, to the bit.
//
// Input is not trusted (model/files/safetensors.h). Errors are kInput or kOutput and name the file.
#ifndef GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_FILE_H_
#define GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "run/checkpoint/manifest.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {

// The file appears whole and on the disk, or not at all.
absl::Status WriteNodeState(const std::string& path, Rank rank, const NodeState& state);

// Refuses the state of another rank and, if `part` is given, a file that is not that one.
absl::StatusOr<NodeState> ReadNodeState(const std::string& path, Rank rank,
                                        const CheckpointPart* part = nullptr);

// The model in the state of a rank, whose file is that part; no data if it has none.
absl::StatusOr<SharedVector> ReadNodeModel(const std::string& path, Rank rank,
                                           const CheckpointPart& part);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_FILE_H_
