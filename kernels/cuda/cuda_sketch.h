// The sketch of a vector (kernels/passes/sketch.h) on a GPU: with the same bits as on the
// CPU, one sweep over device memory.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_SKETCH_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_SKETCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace grapevine {

// Bytes of device memory, aligned to 8, that CudaSketch works in: at most 4 MiB.
size_t CudaSketchWorkspace(int64_t size);

// Begins to compute the kSketchSize doubles of `sketch` on `stream`. All pointers are
// device memory.
cudaError_t CudaSketch(const float* vector, int64_t size, uint64_t seed, double* sketch,
                       void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_SKETCH_H_
