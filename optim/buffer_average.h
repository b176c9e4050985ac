// What every optimizer does with the buffers of a replica: a convex average.
//
// Running statistics must never meet an optimizer's formula, which could drive a
// variance below zero; see ReplicaLayout.
#ifndef GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_
#define GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_

#include "kernels/replica_layout.h"
#include "optim/optimizer.h"

namespace grapevine {

// In the buffer section of `out`: (1 - m) * sum of input.mix + m * b, where
// m = layout.buffer_momentum and b = input.gradient_scale * input.gradient holds
// the batch's statistics.
void AverageBuffers(const ReplicaLayout& layout, const StepInput& input, float* out,
                    VectorPasses& passes);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_BUFFER_AVERAGE_H_
