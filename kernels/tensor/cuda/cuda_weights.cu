#include "kernels/tensor/cuda/cuda_weights.h"

#include "kernels/tensor/cuda/element.h"

namespace grapevine {
namespace {

// (out, in, area) to (out, area, in) or, with the two exchanged, back.
struct Transposition {
  int64_t inner;  // the last extent of what is written
  int64_t outer;  // the one before
  int64_t size;
};

// Where in what is read the element is that goes to `i`.
__device__ inline int64_t Source(const Transposition& t, int64_t i) {
  const int64_t plane = t.inner * t.outer;
  const int64_t block = i / plane;
  const int64_t within = i - block * plane;
  const int64_t row = within / t.inner;
  const int64_t column = within - row * t.inner;
  return block * plane + column * t.outer + row;
}

template <typename T>
__global__ void PackKernel(Transposition t, const float* weights, T* packed) {
  for (int64_t i = FirstIndex(); i < t.size; i += IndexStride()) {
    Store(weights[Source(t, i)], packed + i);
  }
}

template <typename T>
__global__ void UnpackKernel(Transposition t, const T* packed, LossScaled scaled,
                             float* gradient) {
  for (int64_t i = FirstIndex(); i < t.size; i += IndexStride()) {
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
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    PackKernel<T><<<BlocksFor(shape.size()), kThreads, 0, stream>>>(
        {shape.c, shape.area(), shape.size()}, weights, static_cast<T*>(packed));
    return cudaGetLastError();
  });
}

cudaError_t UnpackGradient(const TensorShape& shape, ElementType type, const void* packed,
                           const LossScaled& scaled, float* gradient, cudaStream_t stream) {
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    UnpackKernel<T><<<BlocksFor(shape.size()), kThreads, 0, stream>>>(
        {shape.area(), shape.c, shape.size()}, static_cast<const T*>(packed), scaled, gradient);
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
