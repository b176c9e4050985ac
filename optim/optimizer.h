// Local update rules, by which a node updates its replica with its own gradient.
//
// A rule is one fused pass over memory: it mixes the given vectors and applies
// the update to the mixture, so that D-PSGD's x' = sum_j W_ij x_j - lr * u costs
// a single sweep. With one term of weight 1 it is the ordinary optimizer.
//
// Thread-safety: optimizers are immutable; a step belongs to the thread of its VectorTable.
#ifndef GRAPEVINE_OPTIM_OPTIMIZER_H_
#define GRAPEVINE_OPTIM_OPTIMIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_table.h"

namespace grapevine {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Returns the canonical spec with its numbers: "sgd:momentum=0.9:weight_decay=0.0005".
  virtual std::string name() const = 0;
  // Number of state vectors of layout.parameter_size elements (momentum: 1), in one block.
  virtual int state_vectors() const = 0;
  // Number of vectors of layout.parameter_size elements that a step reads and writes, without those
  // of the mix: the gradient, the result, and each state vector twice. Sweeps before the last one
  // add to it.
  virtual int step_vectors() const { return 2 + 2 * state_vectors(); }
  // Number of elements in the block behind the state vectors, for a device's intermediate results.
  virtual int64_t scratch(const ReplicaLayout& layout) const { return 0; }
  // Whether the rule takes this parameter's norm. A range of the replica that cuts such a parameter
  // would step differently from the whole replica.
  virtual bool needs_whole(const TensorView& parameter) const { return false; }

  // Does the step over the parameters, and the exponential moving average over the buffers
  // (ReplicaLayout::buffer_momentum). `layout` must be that of request.range, as ApplyStep ensures.
  // The state must have OptimizerStateSize elements, zero before the first step. `vectors` resolves
  // the handles, and its passes do the work.
  virtual void Step(const ReplicaLayout& layout, const StepRequest& request,
                    VectorTable& vectors) const = 0;
};

struct OptimizerOptions {
  double momentum = 0.9;
  double weight_decay = 0;
  bool nesterov = false;
};

// Makes the optimizer that `spec` names among the registered ones (Optimizers()), with momentum and
// weight decay from the options unless the spec has its own
// ("sgd:momentum=0.8:weight_decay=0.0001"). Errors name the spec and the known names.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(std::string_view spec,
                                                         const OptimizerOptions& options);

// Averages a replica's buffers as every optimizer does: by a convex average. No optimizer formula
// may touch running statistics: it could drive a variance below zero (ReplicaLayout).
//
// Writes to the buffer section of request.out: (1 - m) * sum of the mix + m * b, where m =
// layout.buffer_momentum and b, the scaled gradient there, holds the batch's statistics. `layout`
// must be that of request.range.
void AverageBuffers(const ReplicaLayout& layout, const StepRequest& request, VectorTable& vectors);

// Carries out an algorithm's request for the fused mix and local step, on a replica or a range of
// it, for every driver. `layout` is the whole replica's. The range must cut no tensor that the
// optimizer needs whole (CutTensor): an experiment refuses algorithms whose ranges do.
void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const StepRequest& request,
               VectorTable& vectors);

// Returns where the scratch memory begins in the state of a range with this number of parameters:
// behind the vectors, aligned to 8 bytes.
int64_t ScratchOffset(const Optimizer& optimizer, int64_t parameters);
// Returns the number of elements of the optimizer's state for a range; they are zero before the
// first step.
int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range);

// Returns the first parameter that the optimizer needs whole and that one of these ranges of the
// replica cuts; null if no parameter is cut.
const TensorView* CutTensor(const Optimizer& optimizer, const ReplicaLayout& layout,
                            std::span<const ReplicaRange> ranges);

// Bounds of options. With a beta of 1 a mean would never move; an epsilon of 0 would divide 0 by 0
// where a gradient has always been 0.
inline constexpr double kLargestBeta = 0.999999;
inline constexpr double kSmallestEpsilon = 1e-30;

// An optimizer's registration: its notation and factory.
//
// Register your own as this folder does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
struct OptimizerKind {
  std::string name;     // "sgd"
  std::string options;  // "[:momentum=0.9]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/optim); they should cover all variants.
  std::vector<std::string> examples;
  // Makes the optimizer. The spec's own numbers take precedence over the options. Refuses unknown
  // options.
  std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Spec&, const OptimizerOptions&)>
      make;
};

// All optimizers of this program.
Registry<OptimizerKind>& Optimizers();

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_OPTIMIZER_H_
