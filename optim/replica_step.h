// What every driver does when an algorithm asks for the fused mix and local step, of a
// replica or a range of it.
#ifndef GRAPEVINE_OPTIM_REPLICA_STEP_H_
#define GRAPEVINE_OPTIM_REPLICA_STEP_H_

#include <cstdint>

#include "kernels/vector/replica_layout.h"
#include "kernels/vector/step_request.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"

namespace grapevine {

// `layout` is the whole replica's.
void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const StepRequest& request,
               VectorTable& vectors);

// Elements of the optimizer's state for a range; zeros before the first step.
int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_REPLICA_STEP_H_
