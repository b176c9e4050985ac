// Shards a data set over nodes.
//
//   iid               shuffled; sizes differ by at most one
//   dirichlet:alpha=A every class is divided by its own draw from a Dirichlet
//                     distribution (Hsu, Qi, Brown 2019, arXiv:1909.06335);
//                     small A (0.1, the default) gives nodes few classes each
//   label             sorted by label and cut into pieces of equal size
//
// Every node computes the same split from the seed on its own.
#ifndef GRAPEVINE_MODEL_DATA_SPLIT_H_
#define GRAPEVINE_MODEL_DATA_SPLIT_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine {

// The samples of each node. Each sample belongs to exactly one node.
using Shards = std::vector<std::vector<int32_t>>;

// Divides the samples with these labels among `nodes` nodes. Draws a Dirichlet split again if it
// leaves a node without samples, and refuses a split that cannot give every node a sample. Errors
// name the spec and the remedy.
absl::StatusOr<Shards> SplitOverNodes(std::string_view spec, std::span<const uint16_t> labels,
                                      int64_t nodes, uint64_t seed);

// Returns the samples of `node` once only the nodes `living` (ascending, `node` among them) are
// left: its own samples and a part of the samples of the lost nodes. Those are dealt in consecutive
// pieces whose sizes differ by at most one, so that a piece resembles the shards that it comes
// from: mixed if they are mixed, and of few classes if they have few. Each sample belongs to
// exactly one of the living nodes.
std::vector<int32_t> ShardAmong(std::span<const Rank> living, Rank node, const Shards& shards);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_SPLIT_H_
