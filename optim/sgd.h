// Stochastic gradient descent with heavy-ball or Nesterov momentum and weight
// decay: PyTorch's torch.optim.SGD with dampening 0, applied to a mixture.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_OPTIM_SGD_H_
#define GRAPEVINE_OPTIM_SGD_H_

#include <string>

#include "optim/optimizer.h"

namespace grapevine {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const OptimizerOptions& options) : options_(options) {}

  std::string name() const override;
  // The momentum buffer, or none.
  int state_vectors() const override { return options_.momentum == 0 ? 0 : 1; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override;

 private:
  OptimizerOptions options_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_SGD_H_
