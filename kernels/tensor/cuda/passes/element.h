// Elements of tensors in device code: loads and stores of several neighbours at once, arithmetic
// in fp32; and elements of the replica's gradient.
//
// Included only by .cu files.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_ELEMENT_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_ELEMENT_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/codec/quantize.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

__device__ __forceinline__ float ToFloat(float x) { return x; }
__device__ __forceinline__ float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float ToFloat(__half x) { return __half2float(x); }

__device__ __forceinline__ void Store(float value, float* x) { *x = value; }
// On Turing, the toolkit's conversion compiles to a branch; this one does not.
__device__ __forceinline__ void Store(float value, __nv_bfloat16* x) {
  *x = __ushort_as_bfloat16(BrainBits(value));
}
__device__ __forceinline__ void Store(float value, __half* x) { *x = __float2half_rn(value); }

// Elements in an access of 16 bytes.
template <typename T>
inline constexpr int kVector = 16 / static_cast<int>(sizeof(T));

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Neighbours {
  T values[kWidth];
};

// Load and store kWidth elements from `at`, a multiple of kWidth. Fetch keeps the elements' type,
// so that 16-bit elements take half the registers while they are in flight. Widen converts them to
// floats. Load does both.
template <int kWidth, typename T>
__device__ __forceinline__ Neighbours<T, kWidth> Fetch(const T* x, int64_t at) {
  return *reinterpret_cast<const Neighbours<T, kWidth>*>(x + at);
}
template <int kWidth, typename T>
__device__ __forceinline__ void Widen(const Neighbours<T, kWidth>& fetched,
                                      float (&values)[kWidth]) {
#pragma unroll
  for (int k = 0; k < kWidth; ++k) values[k] = ToFloat(fetched.values[k]);
}
template <int kWidth, typename T>
__device__ __forceinline__ void Load(const T* x, int64_t at, float (&values)[kWidth]) {
  Widen(Fetch<kWidth>(x, at), values);
}
template <int kWidth, typename T>
__device__ __forceinline__ void Save(const float (&values)[kWidth], T* x, int64_t at) {
  Neighbours<T, kWidth> stored;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) Store(values[k], &stored.values[k]);
  *reinterpret_cast<Neighbours<T, kWidth>*>(x + at) = stored;
}

// Returns the ReLU of x. As in all our kernels, it keeps a NaN, so that a diverged run shows in its
// loss.
__device__ __forceinline__ float ReluOf(float x) { return x < 0 ? 0.0f : x; }

__device__ __forceinline__ void WriteGradient(const LossScaled& scaled, float value,
                                              float* gradient) {
  const float written = value * scaled.inverse;
  if (scaled.overflow != nullptr && !isfinite(written)) *scaled.overflow = 1;
  *gradient = written;
}

// Calls run(T{}), where T is the C++ type of `type`.
template <typename Run>
cudaError_t WithElement(ElementType type, const Run& run) {
  switch (type) {
    case ElementType::kFloat32:
      return run(float{});
    case ElementType::kBFloat16:
      return run(__nv_bfloat16{});
    case ElementType::kFloat16:
      return run(__half{});
  }
  return cudaErrorInvalidValue;
}

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;

// Returns the blocks for a grid-stride loop over `count` elements: at most as many as fill any GPU.
inline unsigned BlocksFor(int64_t count) {
  constexpr int64_t kMaxBlocks = 8192;
  return static_cast<unsigned>(
      std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

__device__ __forceinline__ int64_t FirstIndex() {
  return blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
}
__device__ __forceinline__ int64_t IndexStride() { return int64_t{gridDim.x} * blockDim.x; }

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_ELEMENT_H_
