// Softmax cross-entropy (softmax_cross_entropy.h) on a GPU.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_SOFTMAX_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_SOFTMAX_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

struct CudaLossSums {
  double loss = 0;
  int64_t correct = 0;
};

struct CudaLossCall {
  CrossEntropy loss;
  ElementType type = ElementType::kFloat32;  // of logits and gradient
  int64_t rows = 0;
  const void* logits = nullptr;
  const int32_t* labels = nullptr;
  float gradient_scale = 1;          // times the gradient of the loss's sum
  void* gradient = nullptr;          // null: none
  CudaLossSums* row_sums = nullptr;  // one per row
  CudaLossSums* sums = nullptr;      // over the rows, in their order
};

// All pointers are device memory.
cudaError_t CudaSoftmaxCrossEntropy(const CudaLossCall& call, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_SOFTMAX_H_
