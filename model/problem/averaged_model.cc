#include "model/problem/averaged_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/vector/norms.h"

namespace grapevine {
namespace {

using Replica = std::function<absl::StatusOr<SharedVector>(Rank)>;

// The mean of the replicas of a rank's subtree.
struct Subtree {
  SharedVector mean;
  double nodes = 1;
  MergedDistances distances;  // sums of squared distances to the mean
};

SharedVector CopyOf(const SharedVector& vector) {
  SharedVector copy = NewSharedVector(vector.size);
  std::ranges::copy(vector.span(), copy.data.get());
  return copy;
}

absl::StatusOr<Subtree> Merge(const ReplicaLayout& layout, Rank ranks, const Replica& replica,
                              Rank rank) {
  Subtree tree;
  ASSIGN_OR_RETURN(tree.mean, replica(rank));
  if (2 * rank + 1 >= ranks) return tree;  // a leaf: read, never written
  tree.mean = CopyOf(tree.mean);
  for (const Rank child : {2 * rank + 1, 2 * rank + 2}) {
    if (child >= ranks) break;
    ASSIGN_OR_RETURN(const Subtree other, Merge(layout, ranks, replica, child));
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

absl::StatusOr<AveragedModel> AverageFetched(const ReplicaLayout& layout, int64_t round, Rank ranks,
                                             const Replica& replica) {
  ASSIGN_OR_RETURN(Subtree tree, Merge(layout, ranks, replica, 0));
  if (ranks == 1) tree.mean = CopyOf(tree.mean);  // the result shares no memory
  return AverageOf(round, tree.mean, tree.distances, static_cast<double>(ranks), layout);
}

AveragedModel AverageReplicas(const ReplicaLayout& layout, int64_t round,
                              std::span<const SharedVector> replicas) {
  return *AverageFetched(layout, round, static_cast<Rank>(replicas.size()),
                         [replicas](Rank rank) { return replicas[rank]; });
}

AveragedModel JoinShards(const ReplicaLayout& layout, int64_t round,
                         std::span<const SharedVector> shards) {
  SharedVector whole = NewSharedVector(layout.size);
  float* end = whole.data.get();
  for (const SharedVector& shard : shards) end = std::ranges::copy(shard.span(), end).out;
  return JoinedOf(round, std::move(whole));
}

absl::Status CheckIsFinite(Rank rank, int64_t round, const float* elements, int64_t size) {
  return std::isfinite(SquaredNorm(elements, size)) ? absl::OkStatus() : IsNotFinite(rank, round);
}

absl::Status IsNotFinite(Rank rank, int64_t round) {
  return WithFailure(
      absl::OutOfRangeError(absl::StrCat(
          "the model of rank ", rank, " after round ", round,
          " has NaN or infinite elements: it has diverged (a lower --lr or a warm-up may help), or "
          "computes wrongly")),
      Failure::kDiverged);
}

}  // namespace grapevine
