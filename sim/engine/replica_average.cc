#include "sim/engine/replica_average.h"

#include <algorithm>
#include <cstddef>

#include "kernels/passes/merge_means.h"

namespace grapevine {
namespace {

// The mean of a rank's subtree, and what is known of it.
struct Subtree {
  SharedVector mean;
  double nodes = 1;
  MergedDistances distances;  // sums of squared distances to the mean
};

Subtree Merge(const ReplicaLayout& layout, std::span<const SharedVector> replicas, size_t rank) {
  Subtree tree;
  if (2 * rank + 1 >= replicas.size()) {
    tree.mean = replicas[rank];  // a leaf: read, never written
    return tree;
  }
  tree.mean = NewSharedVector(layout.size);
  std::ranges::copy(replicas[rank].span(), tree.mean.data.get());
  for (const size_t child : {2 * rank + 1, 2 * rank + 2}) {
    if (child >= replicas.size()) break;
    const Subtree other = Merge(layout, replicas, child);
    const MergedDistances added =
        MergeMeans(other.mean.data.get(), other.nodes, tree.nodes, layout.size,
                   layout.parameter_size, tree.mean.data.get());
    tree.distances.counted += other.distances.counted + added.counted;
    tree.distances.rest += other.distances.rest + added.rest;
    tree.nodes += other.nodes;
  }
  return tree;
}

}  // namespace

AveragedModel AverageReplicas(const ReplicaLayout& layout, int64_t round,
                              std::span<const SharedVector> replicas) {
  Subtree tree = Merge(layout, replicas, 0);
  if (replicas.size() == 1) {  // nobody else's memory
    tree.mean = NewSharedVector(layout.size);
    std::ranges::copy(replicas[0].span(), tree.mean.data.get());
  }
  return AverageOf(round, tree.mean, tree.distances, static_cast<double>(replicas.size()), layout);
}

}  // namespace grapevine
