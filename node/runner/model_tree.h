// The binary tree over the members of a view in which averaged models are put together and told.
// Places are counted from the lead, which is the root; the children of place r are at 2r+1 and
// 2r+2.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_TREE_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_TREE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/view.h"
#include "base/ids.h"
#include "kernels/passes/merge_means.h"
#include "node/transport/message_memory.h"

namespace grapevine {

// The neighbours of one member in the tree.
struct ModelTree {
  struct Branch {
    Rank rank;
    int64_t nodes;  // number of nodes in its subtree
  };

  Rank parent = 0;  // the member itself at the root
  std::vector<Branch> children = {};
};

// Returns the neighbours of `rank`. `rank` and `lead` are members.
ModelTree TreeAt(Rank rank, const View& view, Rank lead);

// Returns the view without servers: its members below `size`, which hold a model.
std::shared_ptr<const View> WithModels(std::shared_ptr<const View> view, Rank size);

// Returns distances as a message: two doubles, as they are in memory (little-endian).
SharedBytes Bytes(const std::shared_ptr<MergedDistances>& distances);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_TREE_H_
