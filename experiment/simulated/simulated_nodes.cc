#include "experiment/simulated/simulated_nodes.h"

#include <utility>

#include "sim/engine/phantom_vectors.h"
#include "sim/engine/replica_vectors.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<VectorStore>> MakeVectorStore(const Experiment& experiment) {
  if (!experiment.problem().learns()) {
    return std::make_unique<PhantomVectors>(experiment.layout().size,
                                            experiment.optimizer().state_vectors());
  }
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> objectives =
      experiment.problem().MakeObjectives(0, experiment.workers(), {});
  if (!objectives.ok()) return objectives.status();
  return std::make_unique<ReplicaVectors>(ReplicaVectors::Parts{
      .layout = &experiment.layout(),
      .optimizer = &experiment.optimizer(),
      .initialize = [&experiment](float* replica) { return experiment.Initialize(replica); },
      .objectives = *std::move(objectives)});
}

}  // namespace grapevine
