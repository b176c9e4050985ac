// Which tensor of a vector has numbers that are none: where a run that diverged broke.
#ifndef GRAPEVINE_KERNELS_VECTOR_FINITE_TENSORS_H_
#define GRAPEVINE_KERNELS_VECTOR_FINITE_TENSORS_H_

#include <string>

#include "kernels/vector/replica_layout.h"

namespace grapevine {

// The name of the first tensor, buffers last, with a NaN or an infinity among its
// elements in `vector`, which has layout.size of them; empty when there is none.
std::string FirstNonFinite(const ReplicaLayout& layout, const float* vector);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_FINITE_TENSORS_H_
