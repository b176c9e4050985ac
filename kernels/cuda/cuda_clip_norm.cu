#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/vector/norms.h"

namespace grapevine {
namespace {

constexpr int kClipThreads = 256;
// Enough blocks to fill any GPU. They walk the vector in a grid-stride loop.
constexpr int64_t kMaxBlocks = 4096;

__global__ void __launch_bounds__(kClipThreads)
    ScaleKernel(float* vector, int64_t size, double limit, const double* squared_norm) {
  const float factor = ClipFactor(*squared_norm, limit);
  if (factor == 1) return;
  const int64_t stride = int64_t{gridDim.x} * kClipThreads;
  for (int64_t i = int64_t{blockIdx.x} * kClipThreads + threadIdx.x; i < size; i += stride) {
    vector[i] *= factor;
  }
}

}  // namespace

cudaError_t CudaClipNorm(float* vector, int64_t size, double limit, double* scratch,
                         cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  const TensorSpan whole{.offset = 0, .size = size, .first_chunk = 0};
  const cudaError_t error =
      CudaTensorSquaredNorms(vector, {&whole, 1}, scratch, scratch + 1, stream);
  if (error != cudaSuccess) return error;
  const int64_t blocks = std::min(kMaxBlocks, (size + kClipThreads - 1) / kClipThreads);
  ScaleKernel<<<static_cast<unsigned>(blocks), kClipThreads, 0, stream>>>(vector, size, limit,
                                                                          scratch);
  return cudaGetLastError();
}

}  // namespace grapevine
