// Elements of tensors in device code: loads and stores of neighbours at once, arithmetic
// in fp32; and elements of the replica's gradient.
//
// For .cu files alone.
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
// Code for Turing makes the toolkit's conversion branch; this one does not.
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

// kWidth elements from `at`, which is a multiple of kWidth. Fetch leaves them as they are,
// in 16 bits in half the registers while they are under way; Widen makes them floats; Load
// does both.
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

// The ReLU of all our kernels keeps a NaN, so that a diverged run shows in its loss.
__device__ __forceinline__ float ReluOf(float x) { return x < 0 ? 0.0f : x; }

__device__ __forceinline__ void WriteGradient(const LossScaled& scaled, float value,
                                              float* gradient) {
  const float written = value * scaled.inverse;
  if (scaled.overflow != nullptr && !isfinite(written)) *scaled.overflow = 1;
  *gradient = written;
}

// Calls run(T{}) for the type that `type` is.
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

// Blocks for a grid-stride loop over `count`: enough to fill any GPU, whatever the size.
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
