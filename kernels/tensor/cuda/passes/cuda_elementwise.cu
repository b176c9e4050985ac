#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/element.h"

namespace grapevine {
namespace {

__device__ inline float Apply(ElementwisePass pass, float a, float b) {
  switch (pass) {
    case ElementwisePass::kAdd:
      return a + b;
    case ElementwisePass::kAddRelu:
      return ReluOf(a + b);
    case ElementwisePass::kRelu:
      return ReluOf(a);
    case ElementwisePass::kMask:
      return a > 0 ? b : 0.0f;
  }
  return 0;
}

template <int kWidth, typename T>
__device__ inline void ApplyAt(ElementwisePass pass, const T* a, const T* b, int64_t at, T* out) {
  float left[kWidth];
  float right[kWidth] = {};
  Load(a, at, left);
  if (b != nullptr) Load(b, at, right);
#pragma unroll
  for (int k = 0; k < kWidth; ++k) left[k] = Apply(pass, left[k], right[k]);
  Save(left, out, at);
}

template <typename T>
__global__ void ElementwiseKernel(ElementwisePass pass, const T* a, const T* b, int64_t size,
                                  T* out) {
  constexpr int kWidth = kVector<T>;
  const int64_t vectors = size / kWidth;
  for (int64_t i = FirstIndex(); i < vectors; i += IndexStride()) {
    ApplyAt<kWidth>(pass, a, b, i * kWidth, out);
  }
  for (int64_t i = vectors * kWidth + FirstIndex(); i < size; i += IndexStride()) {
    ApplyAt<1>(pass, a, b, i, out);
  }
}

template <typename T>
__global__ void AddBiasKernel(const T* bias, bool relu, int64_t size, int64_t channels, T* y) {
  for (int64_t i = FirstIndex(); i < size; i += IndexStride()) {
    const float sum = ToFloat(y[i]) + ToFloat(bias[i % channels]);
    Store(relu ? ReluOf(sum) : sum, y + i);
  }
}

// The extents of an image, for kernels whose blocks have one of its rows each.
struct Image {
  int height;
  int width;
  int channels;
};
Image ImageOf(const TensorFormat& format) {
  return {static_cast<int>(format.shape.h), static_cast<int>(format.shape.w),
          static_cast<int>(format.shape.c)};
}

template <typename T>
__global__ void SubsampleKernel(const T* x, Image in, Image out, int stride, T* y) {
  const int64_t n = blockIdx.x / out.height;
  const int h = static_cast<int>(blockIdx.x % out.height);
  const T* const row = x + (n * in.height + h * stride) * in.width * in.channels;
  T* const written = y + int64_t{blockIdx.x} * out.width * out.channels;
  for (int i = threadIdx.x; i < out.width * out.channels; i += blockDim.x) {
    const int w = i / out.channels;
    const int c = i - w * out.channels;
    Store(c < in.channels ? ToFloat(row[w * stride * in.channels + c]) : 0.0f, written + i);
  }
}

template <typename T>
__global__ void SubsampleGradientKernel(const T* dy, Image in, Image out, int stride, T* dx) {
  const int64_t n = blockIdx.x / in.height;
  const int h = static_cast<int>(blockIdx.x % in.height);
  const T* const row = dy + (n * out.height + h / stride) * out.width * out.channels;
  T* const written = dx + int64_t{blockIdx.x} * in.width * in.channels;
  for (int i = threadIdx.x; i < in.width * in.channels; i += blockDim.x) {
    const int w = i / in.channels;
    const int c = i - w * in.channels;
    const bool survives = h % stride == 0 && w % stride == 0 && c < out.channels;
    Store(survives ? ToFloat(row[w / stride * out.channels + c]) : 0.0f, written + i);
  }
}

template <typename T>
__global__ void RoundKernel(const float* x, int64_t size, T* out) {
  for (int64_t i = FirstIndex(); i < size; i += IndexStride()) Store(x[i], out + i);
}

unsigned Rows(const TensorFormat& format) {
  return static_cast<unsigned>(format.shape.n * format.shape.h);
}

}  // namespace

cudaError_t CudaElementwise(ElementwisePass pass, ElementType type, const void* a, const void* b,
                            int64_t size, void* out, cudaStream_t stream) {
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    ElementwiseKernel<T><<<BlocksFor(size / kVector<T> + 1), kThreads, 0, stream>>>(
        pass, static_cast<const T*>(a), static_cast<const T*>(b), size, static_cast<T*>(out));
    return cudaGetLastError();
  });
}

cudaError_t CudaAddBias(const TensorFormat& format, const void* bias, bool relu, void* y,
                        cudaStream_t stream) {
  return WithElement(format.type, [&](auto element) {
    using T = decltype(element);
    AddBiasKernel<T><<<BlocksFor(format.size()), kThreads, 0, stream>>>(
        static_cast<const T*>(bias), relu, format.size(), format.shape.c, static_cast<T*>(y));
    return cudaGetLastError();
  });
}

cudaError_t CudaSubsample(const TensorFormat& input, const TensorFormat& output, int64_t stride,
                          const void* x, void* y, cudaStream_t stream) {
  return WithElement(input.type, [&](auto element) {
    using T = decltype(element);
    SubsampleKernel<T><<<Rows(output), kThreads, 0, stream>>>(
        static_cast<const T*>(x), ImageOf(input), ImageOf(output), static_cast<int>(stride),
        static_cast<T*>(y));
    return cudaGetLastError();
  });
}

cudaError_t CudaSubsampleGradient(const TensorFormat& input, const TensorFormat& output,
                                  int64_t stride, const void* dy, void* dx, cudaStream_t stream) {
  return WithElement(input.type, [&](auto element) {
    using T = decltype(element);
    SubsampleGradientKernel<T><<<Rows(input), kThreads, 0, stream>>>(
        static_cast<const T*>(dy), ImageOf(input), ImageOf(output), static_cast<int>(stride),
        static_cast<T*>(dx));
    return cudaGetLastError();
  });
}

cudaError_t CudaRound(const float* x, int64_t size, ElementType type, void* out,
                      cudaStream_t stream) {
  return WithElement(type, [&](auto element) {
    using T = decltype(element);
    RoundKernel<T><<<BlocksFor(size), kThreads, 0, stream>>>(x, size, static_cast<T*>(out));
    return cudaGetLastError();
  });
}

}  // namespace grapevine
