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

// The number of sums of squared distances that a rank passes on with the mean of its subtree: one
// for parameters and one for buffers.
inline constexpr int64_t kMergeSums = 2;

// Returns the payload, in bytes, of the messages that merge the models of `ranks` ranks up a tree:
// every rank except rank 0 sends the bytes of a replica and the sums of squared distances.
inline int64_t MergeBytes(Rank ranks, int64_t replica_size) {
  return (ranks - 1) *
         (replica_size * int64_t{sizeof(float)} + kMergeSums * int64_t{sizeof(double)});
}

struct AveragedModel {
  int64_t round = 0;   // number of completed rounds
  SharedVector model;  // parameters and buffers
  // (1/n) sum_i |x_i - mean|^2 over the parameters, and over the buffers if the layout has any.
  // Both are absent for servers' weights.
  std::optional<double> consensus_distance;
  std::optional<double> buffer_distance;
  int64_t bytes_sent = 0;  // payload that all nodes together send to compute the model
};

// Returns the model of the servers' weights `whole`, each element of which is sent once.
inline AveragedModel JoinedOf(int64_t round, SharedVector whole) {
  const int64_t bytes = whole.size * int64_t{sizeof(float)};
  return {.round = round, .model = std::move(whole), .bytes_sent = bytes};
}

// Returns the averaged model with the mean of `nodes` replicas and the sums of their squared
// distances to it.
inline AveragedModel AverageOf(int64_t round, SharedVector mean, const MergedDistances& sums,
                               double nodes, const ReplicaLayout& layout) {
  AveragedModel average{.round = round,
                        .model = std::move(mean),
                        .consensus_distance = sums.counted / nodes,
                        .bytes_sent = MergeBytes(static_cast<Rank>(nodes), layout.size)};
  if (layout.size > layout.parameter_size) average.buffer_distance = sums.rest / nodes;
  return average;
}

// Checks the model of `rank`, or a part of it, after `round` rounds. Returns an error with
// Failure::kDiverged if elements are NaN or infinite, which would make the mean of all models NaN
// or infinite.
absl::Status CheckIsFinite(Rank rank, int64_t round, const float* elements, int64_t size);
// Returns the error of CheckIsFinite.
absl::Status IsNotFinite(Rank rank, int64_t round);

// Returns the averaged model of replicas in one process, and their distances to it. Merges in the
// order of the runtime's tree over the ranks (r has the children 2r+1 and 2r+2), so that the mean
// has the bits of a real run's. There is one replica of layout.size elements per rank, and at least
// one rank. The result is a new vector.
AveragedModel AverageReplicas(const ReplicaLayout& layout, int64_t round,
                              std::span<const SharedVector> replicas);

// Does the work of AverageReplicas for replicas that are fetched when their turn comes. As many
// replicas as the depth of the tree are held at once. Returns the first error of `replica`.
absl::StatusOr<AveragedModel> AverageFetched(
    const ReplicaLayout& layout, int64_t round, Rank ranks,
    const std::function<absl::StatusOr<SharedVector>(Rank)>& replica);

// Joins the shards of a model that servers hold, layout.size elements in all, into a new vector.
// The distances are absent.
AveragedModel JoinShards(const ReplicaLayout& layout, int64_t round,
                         std::span<const SharedVector> shards);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_AVERAGED_MODEL_H_
