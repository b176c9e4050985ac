// The vectors of an experiment's virtual nodes, simulated or replayed.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_EXPERIMENT_VECTORS_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_EXPERIMENT_VECTORS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_course.h"
#include "kernels/vector/shared_vector.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Makes vectors with elements for a model that learns, without elements for a phantom. All nodes
// compute their gradients on one network's memory. The experiment and the run's course must outlive
// the store. If `initial` has elements, all nodes begin with it; else with the experiment's
// replica.
absl::StatusOr<std::unique_ptr<VectorStore>> MakeVectorStore(const Experiment& experiment,
                                                             const RunCourse* course,
                                                             const SharedVector& initial = {});

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_EXPERIMENT_VECTORS_H_
