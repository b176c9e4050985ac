#include "sim/engine/round_collector.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "kernels/passes/merge_means.h"

namespace grapevine {

RoundCollector::RoundCollector(Options options, Emit emit)
    : options_(std::move(options)),
      emit_(std::move(emit)),
      living_(options_.nodes),
      gradients_(options_.nodes) {}

void RoundCollector::OnGradient(Rank rank, double loss, int64_t passes,
                                const GradientNoise& noise) {
  Gradients& gradients = gradients_[rank];
  gradients.loss_sum += loss * static_cast<double>(passes);
  gradients.passes += passes;
  gradients.noise += noise;
}

absl::Status RoundCollector::OnBoundary(Rank rank, Round completed, Nanoseconds now,
                                        int64_t bytes_sent, const SharedVector& model) {
  if (!options_.measured(completed)) return absl::OkStatus();
  Open& open = open_[completed];
  MeasuredRound& measured = open.measured;
  const Gradients gradients = std::exchange(gradients_[rank], {});
  measured.completed = completed;
  measured.time = std::max(measured.time, now);
  measured.loss_sum += gradients.loss_sum;
  measured.passes += gradients.passes;
  measured.noise += gradients.noise;
  measured.bytes_sent += bytes_sent;
  if (model.data) {
    measured.models.resize(options_.nodes);
    measured.models[rank] = model;
  }
  open.nodes.insert(rank);
  return EmitComplete();
}

absl::Status RoundCollector::Lose(Rank rank) {
  --living_;
  for (auto& [completed, open] : open_) {
    open.nodes.erase(rank);
    if (!open.measured.models.empty()) open.measured.models[rank] = {};
  }
  return EmitComplete();
}

absl::Status RoundCollector::EmitComplete() {
  // A node does its rounds in order, so the oldest open round completes first.
  while (!open_.empty()) {
    const auto oldest = open_.begin();
    if (static_cast<Rank>(oldest->second.nodes.size()) < living_) break;
    MeasuredRound measured = std::move(open_.extract(oldest).mapped().measured);
    measured.living = living_;
    RETURN_IF_ERROR(emit_(measured));
  }
  return absl::OkStatus();
}

namespace {

// The mean of a rank's subtree, and its sums.
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
  if (replicas.size() == 1) {  // the result shares no memory
    tree.mean = NewSharedVector(layout.size);
    std::ranges::copy(replicas[0].span(), tree.mean.data.get());
  }
  return AverageOf(round, tree.mean, tree.distances, static_cast<double>(replicas.size()), layout);
}

AveragedModel JoinShards(const ReplicaLayout& layout, int64_t round,
                         std::span<const SharedVector> shards) {
  AveragedModel joined{.round = round, .model = NewSharedVector(layout.size)};
  float* end = joined.model.data.get();
  for (const SharedVector& shard : shards) end = std::ranges::copy(shard.span(), end).out;
  return joined;
}

}  // namespace grapevine
