// Weights between the replica, fp32 in PyTorch's order (out, in, kh, kw), and a GPU's
// layers, in the type of their tensors and in cuDNN's order (out, kh, kw, in).
//
// All pointers are device memory.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_WEIGHTS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_WEIGHTS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/cuda/passes/loss_scaled.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// `shape` is (out, in, kh, kw); `packed` has the elements' type `type`.
cudaError_t PackWeights(const TensorShape& shape, const float* weights, ElementType type,
                        void* packed, cudaStream_t stream);
// The way back, for a gradient.
cudaError_t UnpackGradient(const TensorShape& shape, ElementType type, const void* packed,
                           const LossScaled& scaled, float* gradient, cudaStream_t stream);

// Where *overflow is not 0: the parameters' gradient becomes zero, and the statistics
// behind it the replica's own running ones, so that a step leaves both as they are.
cudaError_t DropOnOverflow(const int* overflow, const float* replica, int64_t parameter_size,
                           int64_t size, float* gradient, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_WEIGHTS_H_
