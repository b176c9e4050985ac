// Gradients that take virtual time.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_GRADIENTS_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_GRADIENTS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/problem/objective.h"
#include "node/runner/node_gradients.h"
#include "tests/node/whole_node/process.h"

namespace grapevine::testing {

class SimulatedGradients final : public GradientComputer {
 public:
  using Duration = std::function<std::chrono::nanoseconds(Round round)>;

  SimulatedGradients(Objective* objective, Process* process, Duration duration,
                     GradientReports reports);

  // No part of the gradient is in `into` before it is reported.
  void Compute(SharedVector at, SharedVector into, Round round, std::vector<int64_t> cuts) override;

 private:
  struct Work {
    SharedVector into;
    std::vector<float> gradient;
    int64_t from;  // the elements from here on are final
  };

  Objective* const objective_;
  Process* const process_;
  const Duration duration_;
  // Destroyed with this object: work that is still scheduled then does nothing.
  const std::shared_ptr<GradientReports> reports_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_GRADIENTS_H_
