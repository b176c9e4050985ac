#include "cli/simulated_nodes.h"

#include <utility>

#include "sim/phantom_vectors.h"
#include "sim/replica_vectors.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<VectorStore>> MakeVectorStore(const Experiment& experiment) {
  if (!experiment.data()) {
    return std::make_unique<PhantomVectors>(experiment.layout().size,
                                            experiment.optimizer().state_vectors());
  }
  absl::StatusOr<std::unique_ptr<Network>> network = experiment.MakeNetwork();
  if (!network.ok()) return network.status();
  const std::shared_ptr<Network> shared = *std::move(network);
  ReplicaVectors::Parts parts{
      .layout = &experiment.layout(),
      .optimizer = &experiment.optimizer(),
      .initialize = [&experiment](float* replica) { return experiment.Initialize(replica); }};
  for (Rank rank = 0; rank < experiment.workers(); ++rank) {
    absl::StatusOr<std::unique_ptr<Objective>> objective = experiment.MakeObjective(rank, shared);
    if (!objective.ok()) return objective.status();
    parts.objectives.push_back(*std::move(objective));
  }
  return std::make_unique<ReplicaVectors>(std::move(parts));
}

}  // namespace grapevine
