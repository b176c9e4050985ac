// Local update rules: how a node updates its replica with its own gradient.
//
// A rule is one fused pass over memory: it mixes the given vectors and applies
// the update to the mixture, so that D-PSGD's x' = sum_j W_ij x_j - lr * u costs
// a single sweep. With one term of weight 1 it is the ordinary optimizer.
//
// Thread-safety: optimizers are immutable; a step belongs to the thread of its VectorTable.
#ifndef GRAPEVINE_OPTIM_OPTIMIZER_H_
#define GRAPEVINE_OPTIM_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_table.h"

namespace grapevine {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The canonical spec with its numbers: "sgd:momentum=0.9:weight_decay=0.0005".
  virtual std::string name() const = 0;
  // State vectors of layout.parameter_size elements (momentum: 1), in one block.
  virtual int state_vectors() const = 0;

  // The step over the parameters, and the exponential moving average over the buffers
  // (ReplicaLayout::buffer_momentum). `layout` is that of request.range, as ApplyStep ensures.
  // The state has state_vectors() * layout.parameter_size elements, zero before the first step.
  // `vectors` resolves the handles, and its passes do the work.
  virtual void Step(const ReplicaLayout& layout, const StepRequest& request,
                    VectorTable& vectors) const = 0;
};

struct OptimizerOptions {
  double momentum = 0.9;
  double weight_decay = 0;
  bool nesterov = false;
};

// The optimizer that `spec` names among the registered ones (optim/optimizer_kind.h), with
// momentum and weight decay from the options unless the spec has its own
// ("sgd:momentum=0.8:weight_decay=0.0001"). Errors name the spec and the known names.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(std::string_view spec,
                                                         const OptimizerOptions& options);

// Every optimizer's treatment of a replica's buffers: a convex average. No optimizer formula
// may touch running statistics: it could drive a variance below zero (ReplicaLayout).
//
// In the buffer section of request.out: (1 - m) * sum of the mix + m * b, where
// m = layout.buffer_momentum and b, the scaled gradient there, holds the batch's
// statistics. `layout` is that of request.range.
void AverageBuffers(const ReplicaLayout& layout, const StepRequest& request, VectorTable& vectors);

// Carries out an algorithm's request for the fused mix and local step, on a replica or a range
// of it, for every driver. `layout` is the whole replica's.
void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const StepRequest& request,
               VectorTable& vectors);

// Elements of the optimizer's state for a range; zeros before the first step.
int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_OPTIMIZER_H_
