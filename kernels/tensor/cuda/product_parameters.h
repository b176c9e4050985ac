// Weights or a bias, between the replica and the products of a GPU's layer: copied into
// another type and order, or used where they lie when those are the same.
//
// Values; calls queue on the context's stream. Internal to kernels/tensor/cuda/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PRODUCT_PARAMETERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PRODUCT_PARAMETERS_H_

#include <cstdint>
#include <string>

#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/passes/loss_scaled.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

struct ProductParameters {
  std::string name;  // "weights of a convolution": in errors
  TensorShape shape;
  int64_t offset = 0;         // in the replica
  ElementType type;           // as products read them
  ElementType gradient_type;  // as products write their gradient

  // Where products read them: in the replica, or in `packed`.
  const void* Place(const float* replica, void* packed) const;
  // Copies them there, unless that is where they are; returns the place.
  const void* Pack(CudaTensorContext& context, const float* replica, void* packed) const;

  // Where products write their gradient: in the replica's, or in `packed`.
  void* GradientPlace(const LossScaled& scaled, float* gradient, void* packed) const;
  // Copies it from there, unless it is where it belongs.
  void UnpackGradient(CudaTensorContext& context, float* gradient, void* packed) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PRODUCT_PARAMETERS_H_
