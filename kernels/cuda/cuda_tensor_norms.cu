#include <cuda_runtime.h>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/cuda/norm_pass.h"

namespace grapevine {
namespace {

// A source that gives the elements of a vector. At an occupancy of three eighths, a batch of 8
// keeps 96 KiB in flight on a multiprocessor.
struct VectorSource {
  static constexpr int kBatch = 8;
  const float* vector;

  __device__ __forceinline__ bool Aligned(int64_t i) const {
    return reinterpret_cast<uintptr_t>(vector + i) % 16 == 0;
  }
  __device__ __forceinline__ float One(int64_t i) const { return __ldcs(vector + i); }
  __device__ __forceinline__ Four FourAt(int64_t i) const { return LoadFour(vector + i); }
};

}  // namespace

cudaError_t CudaTensorSquaredNorms(const float* vector, std::span<const TensorSpan> tensors,
                                   double* norms, void* workspace, cudaStream_t stream) {
  return SquaredNorms(VectorSource{vector}, tensors, norms, static_cast<double*>(workspace),
                      stream);
}

}  // namespace grapevine
