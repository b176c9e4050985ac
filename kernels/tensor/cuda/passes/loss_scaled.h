// What becomes of a gradient that was computed from a scaled loss.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_LOSS_SCALED_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_LOSS_SCALED_H_

namespace grapevine {

// How elements of the replica's gradient are written.
struct LossScaled {
  float inverse = 1;  // 1 / the loss's scale
  int* overflow =
      nullptr;  // device memory; set to 1 where an element is not finite. Null: nobody asks
};

#ifdef __CUDACC__
__device__ __forceinline__ void WriteGradient(const LossScaled& scaled, float value,
                                              float* gradient) {
  const float written = value * scaled.inverse;
  if (scaled.overflow != nullptr && !isfinite(written)) *scaled.overflow = 1;
  *gradient = written;
}
#endif

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_LOSS_SCALED_H_
