// The nodes of an experiment as the simulator takes them: vectors, gradients,
// algorithms.
#ifndef GRAPEVINE_CLI_SIMULATED_NODES_H_
#define GRAPEVINE_CLI_SIMULATED_NODES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "cli/experiment.h"
#include "sim/vector_store.h"

namespace grapevine {

// Numbers for a model that learns, none for a phantom. All nodes compute their
// gradients on one network's memory. The experiment outlives the store.
absl::StatusOr<std::unique_ptr<VectorStore>> MakeVectorStore(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_SIMULATED_NODES_H_
