#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/element.h"

namespace grapevine {
namespace {

// The transposition of (out, in, area) to (out, area, in) or, with the two exchanged, back. Indices
// have 32 bits: a division of 64 bits takes longer than the memory access.
struct Transposition {
  uint32_t inner;  // the last extent of the result
  uint32_t outer;  // the extent before the last
  uint32_t size;
};

bool Fits(const TensorShape& shape) { return shape.size() <= int64_t{1} << 31; }

Transposition Of(const TensorShape& shape, int64_t inner, int64_t outer) {
  return {static_cast<uint32_t>(inner), static_cast<uint32_t>(outer),
          static_cast<uint32_t>(shape.size())};
}

// Returns the source index of the element that goes to index `i` of the result.
__device__ inline uint32_t Source(const Transposition& t, uint32_t i) {
  const uint32_t plane = t.inner * t.outer;
  const uint32_t block = i / plane;
  const uint32_t within = i - block * plane;
  const uint32_t row = within / t.inner;
  const uint32_t column = within - row * t.inner;
  return block * plane + column * t.outer + row;
}

// Indices do not overflow when the grid's stride is added to the largest one: both are at most
// 2^31.
__device__ inline uint32_t FirstElement() { return static_cast<uint32_t>(FirstIndex()); }
__device__ inline uint32_t ElementStride() { return static_cast<uint32_t>(IndexStride()); }

template <typename T>
__global__ void PackKernel(Transposition t, const float* weights, T* packed) {
  for (uint32_t i = FirstElement(); i < t.size; i += ElementStride()) {
    Store(weights[Source(t, i)], packed + i);
  }
}

template <typename T>
__global__ void UnpackKernel(Transposition t, const T* packed, LossScaled scaled, float* gradient) {
  for (uint32_t i = FirstElement(); i < t.size; i += ElementStride()) {
    WriteGradient(scaled, ToFloat(packed[Source(t, i)]), gradient + i);
  }
}

__global__ void DropKernel(const int* overflow, const float* replica, int64_t parameter_size,
                           int64_t size, float* gradient) {
  if (*overflow == 0) return;
  for (int64_t i = FirstIndex(); i < size; i += IndexStride()) {
    gradient[i] = i < parameter_size ? 0.0f : replica[i];
  }
}

}  // namespace

cudaError_t PackWeights(const TensorShape& shape, const float* weights, ElementType type,
                        void* packed, cudaStream_t stream) {
  if (!Fits(shape)) return cudaErrorInvalidValue;
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    PackKernel<T><<<BlocksFor(shape.size()), kThreads, 0, stream>>>(
        Of(shape, shape.c, shape.area()), weights, static_cast<T*>(packed));
    return cudaGetLastError();
  });
}

cudaError_t UnpackGradient(const TensorShape& shape, ElementType type, const void* packed,
                           const LossScaled& scaled, float* gradient, cudaStream_t stream) {
  if (!Fits(shape)) return cudaErrorInvalidValue;
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    UnpackKernel<T><<<BlocksFor(shape.size()), kThreads, 0, stream>>>(
        Of(shape, shape.area(), shape.c), static_cast<const T*>(packed), scaled, gradient);
    return cudaGetLastError();
  });
}

cudaError_t DropOnOverflow(const int* overflow, const float* replica, int64_t parameter_size,
                           int64_t size, float* gradient, cudaStream_t stream) {
  DropKernel<<<BlocksFor(size), kThreads, 0, stream>>>(overflow, replica, parameter_size, size,
                                                       gradient);
  return cudaGetLastError();
}

}  // namespace grapevine
