// One replica that an optimizer steps alone, for tests of update rules.
#ifndef GRAPEVINE_TESTS_OPTIM_STEPPER_H_
#define GRAPEVINE_TESTS_OPTIM_STEPPER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"

namespace grapevine {

// Thread-compatible.
class Stepper {
 public:
  // `spec` is valid, `start` has layout.size elements.
  Stepper(const std::string& spec, ReplicaLayout layout, const std::vector<float>& start)
      : optimizer_(*MakeOptimizer(spec, {})),
        layout_(std::move(layout)),
        replica_(vectors_.New(layout_.size, "the replica")),
        gradient_(vectors_.New(layout_.size, "the gradient")),
        state_(vectors_.New(OptimizerStateSize(*optimizer_, layout_, {0, layout_.size}),
                            "the optimizer's state")) {
    vectors_.Clear(state_);
    std::ranges::copy(start, vectors_.At(replica_).data.get());
  }

  // The replica after a step in place.
  std::vector<float> Step(const std::vector<float>& gradient, double learning_rate) {
    std::ranges::copy(gradient, vectors_.At(gradient_).data.get());
    const Term own{1.0, vectors_.Whole(replica_)};
    ApplyStep(*optimizer_, layout_,
              {.range = {0, layout_.size},
               .out = replica_,
               .mix = {&own, 1},
               .own = replica_,
               .gradient = gradient_,
               .state = state_,
               .step = step_++,
               .learning_rate = learning_rate},
              vectors_);
    const std::span<const float> replica = vectors_.At(replica_).span();
    return {replica.begin(), replica.end()};
  }

 private:
  const std::unique_ptr<Optimizer> optimizer_;
  const ReplicaLayout layout_;
  VectorTable vectors_;
  const Vec replica_, gradient_, state_;
  int64_t step_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_OPTIM_STEPPER_H_
