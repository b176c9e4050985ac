// Host::Step over the vectors of a table: what every driver does when an
// algorithm asks for the fused mix and local step, of a replica or a range of it.
#ifndef GRAPEVINE_OPTIM_REPLICA_STEP_H_
#define GRAPEVINE_OPTIM_REPLICA_STEP_H_

#include <span>

#include "kernels/replica_layout.h"
#include "kernels/vector_handle.h"
#include "kernels/vector_table.h"
#include "optim/optimizer.h"

namespace grapevine {

// Handles of one step; all of range.size elements but the state.
struct ReplicaStep {
  ReplicaRange range;
  Vec out;
  std::span<const Term> mix;
  Vec own;
  Vec gradient;
  Vec state;
  double learning_rate = 0;
  double gradient_scale = 1;
};

// `layout` is the whole replica's.
void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const ReplicaStep& step,
               VectorTable& vectors);

// Elements of the optimizer's state for a range; zeros before the first step.
int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_REPLICA_STEP_H_
