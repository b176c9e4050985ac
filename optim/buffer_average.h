// What every optimizer does with the buffers of a replica: a convex average.
//
// Running statistics must never meet an optimizer's formula, which could drive a
// variance below zero; see ReplicaLayout.
#ifndef GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_
#define GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_

#include "kernels/vector/replica_layout.h"
#include "kernels/vector/step_request.h"
#include "kernels/vector/vector_table.h"

namespace grapevine {

// In the buffer section of request.out: (1 - m) * sum of the mix + m * b, where
// m = layout.buffer_momentum and b, the scaled gradient there, holds the batch's
// statistics. `layout` is that of request.range.
void AverageBuffers(const ReplicaLayout& layout, const StepRequest& request, VectorTable& vectors);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_
