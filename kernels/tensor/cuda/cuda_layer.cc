#include "kernels/tensor/cuda/cuda_layer.h"

#include "absl/strings/str_cat.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"

namespace grapevine {
namespace {

// Whether a parameter can be used where it lies in the replica, at whatever offset that is.
bool Fits(const TensorShape& shape, ElementType type, const float* memory) {
  const bool same_order = shape.c == 1 || shape.area() == 1;
  return type == ElementType::kFloat32 && same_order &&
         reinterpret_cast<uintptr_t>(memory) % kProductAlignment == 0;
}

}  // namespace

const void* ProductParameters::Memory(const float* replica, void* packed) const {
  return Fits(shape, type, replica + offset) ? replica + offset : packed;
}

const void* ProductParameters::Pack(CudaTensorContext& context, const float* replica,
                                    void* packed) const {
  const void* const memory = Memory(replica, packed);
  if (memory == packed) {
    context.Note(PackWeights(shape, replica + offset, type, packed, context.stream()), name);
  }
  return memory;
}

void* ProductParameters::GradientMemory(const LossScaled& scaled, float* gradient,
                                        void* packed) const {
  const bool final = scaled.inverse == 1 && scaled.overflow == nullptr;
  return final && Fits(shape, gradient_type, gradient + offset) ? gradient + offset : packed;
}

void ProductParameters::UnpackGradient(CudaTensorContext& context, float* gradient,
                                       void* packed) const {
  const LossScaled& scaled = context.loss_scaled();
  if (GradientMemory(scaled, gradient, packed) != packed) return;
  context.Note(grapevine::UnpackGradient(shape, gradient_type, packed, scaled, gradient + offset,
                                         context.stream()),
               absl::StrCat("gradient of the ", name));
}

}  // namespace grapevine
