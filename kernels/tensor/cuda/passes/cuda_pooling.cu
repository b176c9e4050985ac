#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/element.h"

namespace grapevine {
namespace {

// PoolingWindows in the device's integers.
struct Windows {
  int in_h, in_w, out_h, out_w, channels;
  int kernel_h, kernel_w, stride, padding;
  bool max;
};

Windows WindowsOf(const PoolingWindows& w) {
  return {.in_h = static_cast<int>(w.input.shape.h),
          .in_w = static_cast<int>(w.input.shape.w),
          .out_h = static_cast<int>(w.output.shape.h),
          .out_w = static_cast<int>(w.output.shape.w),
          .channels = static_cast<int>(w.input.shape.c),
          .kernel_h = static_cast<int>(w.kernel_h),
          .kernel_w = static_cast<int>(w.kernel_w),
          .stride = static_cast<int>(w.stride),
          .padding = static_cast<int>(w.padding),
          .max = w.kind == Pooling::Kind::kMax};
}

// The part of a window that is inside the image, along one dimension.
struct Extent {
  int begin;
  int end;
};
__device__ inline Extent ExtentOf(int out, int stride, int padding, int kernel, int size) {
  const int start = out * stride - padding;
  return {max(start, 0), min(start + kernel, size)};
}

// Returns the windows that contain position `in`, along one dimension.
__device__ inline Extent WindowsOver(int in, int stride, int padding, int kernel, int windows) {
  const int last = (in + padding) / stride;
  const int first = in + padding < kernel ? 0 : (in + padding - kernel) / stride + 1;
  return {first, min(last + 1, windows)};
}

// Pools. A block computes one row of the output of one image.
template <typename T>
__global__ void PoolKernel(Windows s, const T* x, T* y, uint16_t* largest) {
  const int64_t n = blockIdx.x / s.out_h;
  const int h = static_cast<int>(blockIdx.x % s.out_h);
  const Extent rows = ExtentOf(h, s.stride, s.padding, s.kernel_h, s.in_h);
  const T* const image = x + n * s.in_h * s.in_w * s.channels;
  const int64_t written = int64_t{blockIdx.x} * s.out_w * s.channels;
  for (int i = threadIdx.x; i < s.out_w * s.channels; i += blockDim.x) {
    const int w = i / s.channels;
    const int c = i - w * s.channels;
    const Extent columns = ExtentOf(w, s.stride, s.padding, s.kernel_w, s.in_w);
    float best = -INFINITY;
    int place = 0;
    float sum = 0;
    bool first = true;
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int column = columns.begin; column < columns.end; ++column) {
        const float value = ToFloat(image[(row * int64_t{s.in_w} + column) * s.channels + c]);
        sum += value;
        // A NaN counts as the largest, and no later value replaces it except another NaN.
        if (first || value > best || value != value) {
          best = value;
          place = (row - h * s.stride + s.padding) * s.kernel_w + column - w * s.stride + s.padding;
        }
        first = false;
      }
    }
    const int count = (rows.end - rows.begin) * (columns.end - columns.begin);
    Store(s.max ? best : sum / static_cast<float>(count), y + written + i);
    if (s.max && largest != nullptr) largest[written + i] = static_cast<uint16_t>(place);
  }
}

// Computes the gradient of the input. A block computes one row of the input of one image.
template <typename T>
__global__ void PoolGradientKernel(Windows s, const T* dy, const uint16_t* largest, T* dx) {
  const int64_t n = blockIdx.x / s.in_h;
  const int h = static_cast<int>(blockIdx.x % s.in_h);
  const Extent rows = WindowsOver(h, s.stride, s.padding, s.kernel_h, s.out_h);
  const int64_t image = n * s.out_h * s.out_w * s.channels;
  const int64_t written = int64_t{blockIdx.x} * s.in_w * s.channels;
  for (int i = threadIdx.x; i < s.in_w * s.channels; i += blockDim.x) {
    const int w = i / s.channels;
    const int c = i - w * s.channels;
    const Extent columns = WindowsOver(w, s.stride, s.padding, s.kernel_w, s.out_w);
    float sum = 0;
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int column = columns.begin; column < columns.end; ++column) {
        const int64_t at = image + (row * int64_t{s.out_w} + column) * s.channels + c;
        const float g = ToFloat(dy[at]);
        if (s.max) {
          const int place =
              (h - row * s.stride + s.padding) * s.kernel_w + w - column * s.stride + s.padding;
          if (largest[at] == place) sum += g;
          continue;
        }
        const Extent high = ExtentOf(row, s.stride, s.padding, s.kernel_h, s.in_h);
        const Extent wide = ExtentOf(column, s.stride, s.padding, s.kernel_w, s.in_w);
        sum += g / static_cast<float>((high.end - high.begin) * (wide.end - wide.begin));
      }
    }
    Store(sum, dx + written + i);
  }
}

}  // namespace

cudaError_t CudaPool(const PoolingWindows& windows, const void* x, void* y, uint16_t* largest,
                     cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(windows.output.shape.n * windows.output.shape.h);
  return WithElement(windows.input.type, [&](auto element) {
    using T = decltype(element);
    PoolKernel<T><<<rows, kThreads, 0, stream>>>(WindowsOf(windows), static_cast<const T*>(x),
                                                 static_cast<T*>(y), largest);
    return cudaGetLastError();
  });
}

cudaError_t CudaPoolGradient(const PoolingWindows& windows, const void* dy, const uint16_t* largest,
                             void* dx, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(windows.input.shape.n * windows.input.shape.h);
  return WithElement(windows.input.type, [&](auto element) {
    using T = decltype(element);
    PoolGradientKernel<T><<<rows, kThreads, 0, stream>>>(
        WindowsOf(windows), static_cast<const T*>(dy), largest, static_cast<T*>(dx));
    return cudaGetLastError();
  });
}

}  // namespace grapevine
