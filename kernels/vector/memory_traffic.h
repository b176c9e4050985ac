// What passes over vectors read and write: what the simulator charges for them,
// and what a profile divides their measured time by.
#ifndef GRAPEVINE_KERNELS_VECTOR_MEMORY_TRAFFIC_H_
#define GRAPEVINE_KERNELS_VECTOR_MEMORY_TRAFFIC_H_

#include <cstddef>
#include <cstdint>

namespace grapevine {

// Bytes of a sum of `terms` vectors: reads each, writes the result.
inline int64_t CombineTraffic(size_t terms, int64_t elements) {
  return (static_cast<int64_t>(terms) + 1) * elements * static_cast<int64_t>(sizeof(float));
}

// Bytes of the fused pass that mixes `terms` vectors and steps: reads them and the
// gradient, writes the result, reads and writes the optimizer's `state_vectors`.
inline int64_t StepTraffic(size_t terms, int state_vectors, int64_t elements) {
  return (static_cast<int64_t>(terms) + 2 + 2 * state_vectors) * elements *
         static_cast<int64_t>(sizeof(float));
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_MEMORY_TRAFFIC_H_
