// How a data set is sharded over nodes.
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

// The samples of each node; each sample has one node.
using Shards = std::vector<std::vector<int32_t>>;

// Divides the samples with these labels among `nodes`. A Dirichlet split that leaves a node
// without samples is drawn again; a split that cannot give every node a sample is refused.
// Errors name the spec and the remedy.
absl::StatusOr<Shards> SplitOverNodes(std::string_view spec, std::span<const uint16_t> labels,
                                      int64_t nodes, uint64_t seed);

// The samples of `node` once only `living` of the nodes are left (ascending, `node` among them):
// its own, and a part of those that the lost had. These are dealt in consecutive pieces whose sizes
// differ by at most one, so that a piece is like the shards that it is from: mixed where they are
// mixed, of few classes where they are of few. Each sample has one of the living.
std::vector<int32_t> ShardAmong(std::span<const Rank> living, Rank node, const Shards& shards);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_SPLIT_H_
