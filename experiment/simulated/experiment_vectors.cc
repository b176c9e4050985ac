#include "experiment/simulated/experiment_vectors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "sim/engine/replica_vectors.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<VectorStore>> MakeVectorStore(const Experiment& experiment,
                                                             const RunCourse* course,
                                                             const SharedVector& initial) {
  if (!experiment.problem().learns()) {
    return std::make_unique<PhantomVectors>(
        experiment.layout().size, experiment.optimizer().step_vectors(),
        [course](Round round) { return course->PassesIn(round); });
  }
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Objective>> objectives,
                   experiment.MakeObjectives(0, experiment.workers(), {}, course));
  return std::make_unique<ReplicaVectors>(
      ReplicaVectors::Parts{.layout = &experiment.layout(),
                            .optimizer = &experiment.optimizer(),
                            .initialize = [&experiment, initial](float* replica) -> absl::Status {
                              if (!initial.data) return experiment.Initialize(replica);
                              std::ranges::copy(initial.span(), replica);
                              return absl::OkStatus();
                            },
                            .objectives = std::move(objectives)});
}

}  // namespace grapevine
