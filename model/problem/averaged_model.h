// The model that a run produces: the mean of all nodes' replicas or, where servers hold the model
// that counts, their weights.
#ifndef GRAPEVINE_MODEL_PROBLEM_AVERAGED_MODEL_H_
#define GRAPEVINE_MODEL_PROBLEM_AVERAGED_MODEL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/passes/merge_means.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {

// Sums of squared distances that a rank passes on with the mean of its subtree: for parameters
// and for buffers.
inline constexpr int64_t kMergeSums = 2;

// Payload of the messages that merge the models of this many ranks up a tree: each but rank 0
// sends the bytes of a replica, and the sums.
inline int64_t MergeBytes(Rank ranks, int64_t replica_size) {
  return (ranks - 1) *
         (replica_size * int64_t{sizeof(float)} + kMergeSums * int64_t{sizeof(double)});
}

struct AveragedModel {
  int64_t round = 0;   // completed rounds
  SharedVector model;  // parameters and buffers
  // (1/n) sum_i |x_i - mean|^2 over the parameters, and over the buffers if there are any. Of
  // servers' weights there is neither.
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;
  int64_t bytes_sent = 0;  // payload, by all nodes together, to put it together
};

// The servers' weights, whose elements each sends once.
inline AveragedModel JoinedOf(int64_t round, SharedVector whole) {
  const int64_t bytes = whole.size * int64_t{sizeof(float)};
  return {.round = round, .model = std::move(whole), .bytes_sent = bytes};
}

// From the mean of `nodes` replicas and the sums of their squared distances to it.
inline AveragedModel AverageOf(int64_t round, SharedVector mean, const MergedDistances& sums,
                               double nodes, const ReplicaLayout& layout) {
  AveragedModel average{.round = round,
                        .model = std::move(mean),
                        .consensus_distance = sums.counted / nodes,
                        .bytes_sent = MergeBytes(static_cast<Rank>(nodes), layout.size)};
  if (layout.size > layout.parameter_size) average.buffer_distance = sums.rest / nodes;
  return average;
}

// Of the model of this rank, or a part of it, after so many rounds: kDiverged if elements are NaN
// or infinite, which would make the mean of all so.
absl::Status CheckIsFinite(Rank rank, int64_t round, const float* elements, int64_t size);
// That error.
absl::Status IsNotFinite(Rank rank, int64_t round);

// The averaged model of replicas in one process, and their distances to it. Merges in the order of
// the runtime's tree over the ranks (children 2r+1 and 2r+2 of r), so that the mean has the bits of
// a real run's. One replica per rank, at least one, of layout.size elements each; the result is a
// new vector.
AveragedModel AverageReplicas(const ReplicaLayout& layout, int64_t round,
                              std::span<const SharedVector> replicas);

// The same of replicas that are fetched when it is their turn: so many as the tree is deep are held
// at once. The first error of `replica` ends it.
absl::StatusOr<AveragedModel> AverageFetched(
    const ReplicaLayout& layout, int64_t round, Rank ranks,
    const std::function<absl::StatusOr<SharedVector>(Rank)>& replica);

// The model whose shards servers hold, side by side: of layout.size elements in all, in a new
// vector. The distances are absent.
AveragedModel JoinShards(const ReplicaLayout& layout, int64_t round,
                         std::span<const SharedVector> shards);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_AVERAGED_MODEL_H_
