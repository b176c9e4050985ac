#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/element.h"

namespace grapevine {
namespace {

// The number of blocks. It is a constant, so that sums are the same on all GPUs. A large GPU gets
// three blocks for each multiprocessor; these kernels' registers let all of them run at once, so
// that no last wave of a few blocks is left.
constexpr int64_t kBlocks = 384;
constexpr int kResidentBlocks = 3;
// The number of rows that a thread should have at least.
constexpr int64_t kRowsOfThread = 8;

// The division of a matrix among threads. A thread has `width` neighbouring channels (a group) in
// every threads_y-th row of its block's chunk of rows.
struct Division {
  int width;
  int threads_x;  // groups of a block, a power of two
  int threads_y;
  int64_t groups;
  int64_t chunk_rows;
  unsigned chunks;
  unsigned columns;  // the number of blocks that share the groups of a row

  dim3 grid() const { return dim3(columns, chunks); }
  dim3 block() const {
    return dim3(static_cast<unsigned>(threads_x), static_cast<unsigned>(threads_y));
  }
};

Division Divide(const ChannelMatrix& matrix) {
  Division d{};
  const int vector = static_cast<int>(16 / BytesOf(matrix.type));
  d.width = matrix.channels % vector == 0 ? vector : 1;
  d.groups = matrix.channels / d.width;
  d.threads_x = 1;
  while (d.threads_x < kWarp && d.threads_x < d.groups) d.threads_x *= 2;
  d.threads_y = kThreads / d.threads_x;
  d.columns = static_cast<unsigned>((d.groups + d.threads_x - 1) / d.threads_x);
  const int64_t wanted =
      (matrix.rows + d.threads_y * kRowsOfThread - 1) / (d.threads_y * kRowsOfThread);
  const int64_t most = std::max<int64_t>(1, kBlocks / d.columns);
  const int64_t chunks = std::clamp<int64_t>(wanted, 1, most);
  d.chunk_rows = (matrix.rows + chunks - 1) / chunks;
  d.chunks = static_cast<unsigned>((matrix.rows + d.chunk_rows - 1) / d.chunk_rows);
  return d;
}

// One thread's part of a matrix.
struct Part {
  int64_t group;
  bool inside;
  int64_t first_row;
  int64_t last_row;
};
__device__ inline Part PartOf(int64_t groups, int64_t rows, int64_t chunk_rows) {
  Part part;
  part.group = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  part.inside = part.group < groups;
  part.first_row = blockIdx.y * chunk_rows + threadIdx.y;
  const int64_t end = (blockIdx.y + 1) * chunk_rows;
  part.last_row = end < rows ? end : rows;
  return part;
}

// Calls run.operator()<kRows>(row) for kRows rows of the part at once, blockDim.y apart, then <1>
// for each row that is left. If all loads come before the first use or store, a thread has kRows
// loads of each tensor in flight (four to eight in all, for which kResidentBlocks leaves
// registers). The compiler cannot reorder the loads by itself, since the tensors may be the same.
template <int kRows, typename Run>
__device__ __forceinline__ void ForRows(const Part& part, const Run& run) {
  int64_t row = part.first_row;
  for (; row + (kRows - 1) * int64_t{blockDim.y} < part.last_row; row += kRows * blockDim.y) {
    run.template operator()<kRows>(row);
  }
  for (; row < part.last_row; row += blockDim.y) run.template operator()<1>(row);
}

// One group of channels in kRows rows of a tensor; zeros if the tensor is null.
template <typename T, int kWidth, int kRows>
struct RowsOf {
  __device__ __forceinline__ RowsOf(const T* x, int64_t at, int64_t stride) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      rows[r] = x == nullptr ? Neighbours<T, kWidth>{} : Fetch<kWidth>(x, at + r * stride);
    }
  }
  Neighbours<T, kWidth> rows[kRows];
};

struct Moments {
  double count;
  double mean;
  double deviation;  // the sum of squared deviations
};
__device__ inline Moments Join(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  if (count == 0) return a;
  const double delta = b.mean - a.mean;
  const double share = b.count / count;
  return {count, a.mean + delta * share,
          a.deviation + b.deviation + delta * delta * a.count * share};
}

// Computes the mean and the sum of squared deviations of each chunk. `partial` holds two arrays,
// each with a value per (channel, chunk).
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    MomentsKernel(const T* x, int64_t channels, int64_t rows, int64_t chunk_rows, float* partial) {
  const Part part = PartOf(channels / kWidth, rows, chunk_rows);
  float mean[kWidth] = {};
  float deviation[kWidth] = {};
  float count = 0;
  if (part.inside) {
    const int64_t stride = blockDim.y * channels;
    ForRows<4>(part, [&]<int kRows>(int64_t row) {
      const RowsOf<T, kWidth, kRows> fetched(x, row * channels + part.group * kWidth, stride);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        float values[kWidth];
        Widen(fetched.rows[r], values);
        count += 1;
        const float share = 1 / count;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const float delta = values[k] - mean[k];
          mean[k] = fmaf(delta, share, mean[k]);
          deviation[k] = fmaf(delta, values[k] - mean[k], deviation[k]);
        }
      }
    });
  }
  __shared__ float means[kThreads * kWidth];
  __shared__ float deviations[kThreads * kWidth];
  __shared__ float counts[kThreads];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    means[thread * kWidth + k] = mean[k];
    deviations[thread * kWidth + k] = deviation[k];
  }
  counts[thread] = count;
  __syncthreads();
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
      const int other = thread + static_cast<int>(half * blockDim.x);
      const float sum = counts[thread] + counts[other];
      if (sum > 0) {
        const float share = counts[other] / sum;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const int at = thread * kWidth + k;
          const int from = other * kWidth + k;
          const float delta = means[from] - means[at];
          deviations[at] += deviations[from] + delta * delta * counts[thread] * share;
          means[at] += delta * share;
        }
        counts[thread] = sum;
      }
    }
    __syncthreads();
  }
  if (threadIdx.y != 0 || !part.inside) return;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    const int64_t at = (part.group * kWidth + k) * gridDim.y + blockIdx.y;
    partial[at] = means[thread * kWidth + k];
    partial[channels * gridDim.y + at] = deviations[thread * kWidth + k];
  }
}

__device__ inline void WriteScaleAndShift(int64_t c, float mean, double variance,
                                          const ChannelParameters& parameters,
                                          const ChannelCoefficients& coefficients) {
  const float inverse = static_cast<float>(1 / sqrt(variance + double{parameters.epsilon}));
  const float scale = parameters.weight[c] * inverse;
  coefficients.mean[c] = mean;
  coefficients.inverse_deviation[c] = inverse;
  coefficients.scale[c] = scale;
  coefficients.shift[c] = parameters.bias[c] - mean * scale;
}

// Computes a channel's coefficients with a warp.
__global__ void BatchCoefficientsKernel(const float* partial, int64_t channels, int64_t rows,
                                        int64_t chunk_rows, int chunks,
                                        ChannelParameters parameters,
                                        ChannelCoefficients coefficients, float* batch_mean,
                                        float* batch_variance) {
  const int64_t c = blockIdx.x * int64_t{blockDim.y} + threadIdx.y;
  if (c >= channels) return;  // holds for whole warps
  Moments moments = {0, 0, 0};
  for (int chunk = static_cast<int>(threadIdx.x); chunk < chunks; chunk += kWarp) {
    const int64_t at = c * chunks + chunk;
    const int64_t first = chunk * chunk_rows;
    const int64_t count = first + chunk_rows < rows ? chunk_rows : rows - first;
    moments = Join(moments, {static_cast<double>(count), double{partial[at]},
                             double{partial[channels * chunks + at]}});
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const Moments other = {__shfl_down_sync(0xffffffff, moments.count, step),
                           __shfl_down_sync(0xffffffff, moments.mean, step),
                           __shfl_down_sync(0xffffffff, moments.deviation, step)};
    moments = Join(moments, other);
  }
  if (threadIdx.x != 0) return;
  const double count = static_cast<double>(rows);
  const float mean = static_cast<float>(moments.mean);
  batch_mean[c] = mean;
  batch_variance[c] = static_cast<float>(moments.deviation / (count > 1 ? count - 1 : 1));
  WriteScaleAndShift(c, mean, moments.deviation / count, parameters, coefficients);
}

__global__ void RunningCoefficientsKernel(int64_t channels, const float* mean,
                                          const float* variance, ChannelParameters parameters,
                                          ChannelCoefficients coefficients) {
  const int64_t c = FirstIndex();
  if (c < channels) WriteScaleAndShift(c, mean[c], double{variance[c]}, parameters, coefficients);
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    NormalizeKernel(const T* x, const T* shortcut, bool relu, const float* scale,
                    const float* shift, int64_t channels, int64_t rows, int64_t chunk_rows, T* y) {
  const Part part = PartOf(channels / kWidth, rows, chunk_rows);
  if (!part.inside) return;
  float scales[kWidth];
  float shifts[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    scales[k] = scale[part.group * kWidth + k];
    shifts[k] = shift[part.group * kWidth + k];
  }
  const int64_t stride = blockDim.y * channels;
  ForRows<4>(part, [&]<int kRows>(int64_t row) {
    const int64_t at = row * channels + part.group * kWidth;
    const RowsOf<T, kWidth, kRows> fetched(x, at, stride);
    const RowsOf<T, kWidth, kRows> added(shortcut, at, stride);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float values[kWidth];
      float more[kWidth];
      Widen(fetched.rows[r], values);
      Widen(added.rows[r], more);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        values[k] = fmaf(values[k], scales[k], shifts[k]) + more[k];
        if (relu) values[k] = ReluOf(values[k]);
      }
      Save(values, y, at + r * stride);
    }
  });
}

// Computes the sums of g and of g * (x - mean) of each chunk, and writes g into dy. Without x, only
// the sums of g are meaningful.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    GradientSumsKernel(const T* x, const T* y, T* dy, const T* dy2, const float* mean,
                       int64_t channels, int64_t rows, int64_t chunk_rows, float* partial) {
  const Part part = PartOf(channels / kWidth, rows, chunk_rows);
  float sum[kWidth] = {};
  float dot[kWidth] = {};
  if (part.inside) {
    float means[kWidth] = {};
    if (x != nullptr) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) means[k] = mean[part.group * kWidth + k];
    }
    const int64_t stride = blockDim.y * channels;
    ForRows<1>(part, [&]<int kRows>(int64_t row) {
      const int64_t at = row * channels + part.group * kWidth;
      const RowsOf<T, kWidth, kRows> gradients(dy, at, stride);
      const RowsOf<T, kWidth, kRows> seconds(dy2, at, stride);
      const RowsOf<T, kWidth, kRows> inputs(x, at, stride);
      const RowsOf<T, kWidth, kRows> outputs(y, at, stride);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        float g[kWidth];
        float second[kWidth];
        float values[kWidth];
        float output[kWidth];
        Widen(gradients.rows[r], g);
        Widen(seconds.rows[r], second);
        Widen(inputs.rows[r], values);
        Widen(outputs.rows[r], output);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          g[k] += second[k];
          if (y != nullptr) g[k] = output[k] > 0 ? g[k] : 0.0f;
          sum[k] += g[k];
          dot[k] = fmaf(g[k], values[k] - means[k], dot[k]);
        }
        if (y != nullptr || dy2 != nullptr) Save(g, dy, at + r * stride);
      }
    });
  }
  __shared__ float sums[kThreads * kWidth];
  __shared__ float dots[kThreads * kWidth];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    sums[thread * kWidth + k] = sum[k];
    dots[thread * kWidth + k] = dot[k];
  }
  __syncthreads();
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
      const int other = thread + static_cast<int>(half * blockDim.x);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        sums[thread * kWidth + k] += sums[other * kWidth + k];
        dots[thread * kWidth + k] += dots[other * kWidth + k];
      }
    }
    __syncthreads();
  }
  if (threadIdx.y != 0 || !part.inside) return;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    const int64_t at = (part.group * kWidth + k) * gridDim.y + blockIdx.y;
    partial[at] = sums[thread * kWidth + k];
    partial[channels * gridDim.y + at] = dots[thread * kWidth + k];
  }
}

struct SumResults {
  ChannelCoefficients coefficients;
  InputCoefficients input;           // null for the gradient of a bias alone
  float* weight_gradient = nullptr;  // null for the gradient of a bias alone
  float* bias_gradient = nullptr;
};

// Computes a channel's results with a warp.
__global__ void SumResultsKernel(const float* partial, int64_t channels, int64_t rows, int chunks,
                                 LossScaled scaled, SumResults results) {
  const int64_t c = blockIdx.x * int64_t{blockDim.y} + threadIdx.y;
  if (c >= channels) return;  // holds for whole warps
  double sum = 0;
  double dot = 0;
  for (int chunk = static_cast<int>(threadIdx.x); chunk < chunks; chunk += kWarp) {
    sum += double{partial[c * chunks + chunk]};
    dot += double{partial[(channels + c) * chunks + chunk]};
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, step);
    dot += __shfl_down_sync(0xffffffff, dot, step);
  }
  if (threadIdx.x != 0) return;
  WriteGradient(scaled, static_cast<float>(sum), results.bias_gradient + c);
  if (results.weight_gradient == nullptr) return;
  const double inverse = double{results.coefficients.inverse_deviation[c]};
  const double scale = double{results.coefficients.scale[c]};
  const double count = static_cast<double>(rows);
  WriteGradient(scaled, static_cast<float>(dot * inverse), results.weight_gradient + c);
  results.input.b[c] = static_cast<float>(-scale * inverse * inverse * dot / count);
  results.input.c[c] = static_cast<float>(-scale * sum / count);
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    InputGradientKernel(const T* x, const T* g, ChannelCoefficients coefficients,
                        InputCoefficients input, int64_t channels, int64_t rows, int64_t chunk_rows,
                        T* dx) {
  const Part part = PartOf(channels / kWidth, rows, chunk_rows);
  if (!part.inside) return;
  float mean[kWidth];
  float a[kWidth];
  float b[kWidth];
  float c[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    const int64_t channel = part.group * kWidth + k;
    mean[k] = coefficients.mean[channel];
    a[k] = coefficients.scale[channel];
    b[k] = input.b[channel];
    c[k] = input.c[channel];
  }
  const int64_t stride = blockDim.y * channels;
  ForRows<2>(part, [&]<int kRows>(int64_t row) {
    const int64_t at = row * channels + part.group * kWidth;
    const RowsOf<T, kWidth, kRows> inputs(x, at, stride);
    const RowsOf<T, kWidth, kRows> gradients(g, at, stride);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float values[kWidth];
      float gradient[kWidth];
      Widen(inputs.rows[r], values);
      Widen(gradients.rows[r], gradient);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        gradient[k] = fmaf(a[k], gradient[k], fmaf(b[k], values[k] - mean[k], c[k]));
      }
      Save(gradient, dx, at + r * stride);
    }
  });
}

// Calls run.operator()<T, kWidth>() for the matrix's type and the division's width.
template <typename Run>
cudaError_t WithWidth(const ChannelMatrix& matrix, const Division& division, const Run& run) {
  return WithElement(matrix.type, [&](auto element) {
    using T = decltype(element);
    if (division.width == 1) {
      run.template operator()<T, 1>();
    } else {
      run.template operator()<T, kVector<T>>();
    }
    return cudaGetLastError();
  });
}

constexpr unsigned kChannelsOfBlock = kThreads / kWarp;
unsigned WarpBlocks(int64_t channels) {
  return static_cast<unsigned>((channels + kChannelsOfBlock - 1) / kChannelsOfBlock);
}

cudaError_t Sums(const ChannelMatrix& matrix, const CudaGradientPass& pass, const float* mean,
                 const LossScaled& scaled, const SumResults& results, float* partial,
                 cudaStream_t stream) {
  const Division d = Divide(matrix);
  const cudaError_t launched = WithWidth(matrix, d, [&]<typename T, int kWidth>() {
    GradientSumsKernel<T, kWidth><<<d.grid(), d.block(), 0, stream>>>(
        static_cast<const T*>(pass.x), static_cast<const T*>(pass.y), static_cast<T*>(pass.dy),
        static_cast<const T*>(pass.dy2), mean, matrix.channels, matrix.rows, d.chunk_rows, partial);
  });
  if (launched != cudaSuccess) return launched;
  SumResultsKernel<<<WarpBlocks(matrix.channels), dim3(kWarp, kChannelsOfBlock), 0, stream>>>(
      partial, matrix.channels, matrix.rows, static_cast<int>(d.chunks), scaled, results);
  return cudaGetLastError();
}

}  // namespace

int64_t PartialSumBytes(const ChannelMatrix& matrix) {
  return 2 * matrix.channels * Divide(matrix).chunks * static_cast<int64_t>(sizeof(float));
}

cudaError_t BatchCoefficients(const ChannelMatrix& matrix, const void* x,
                              const ChannelParameters& parameters,
                              const ChannelCoefficients& coefficients, float* batch_mean,
                              float* batch_variance, float* partial, cudaStream_t stream) {
  const Division d = Divide(matrix);
  const cudaError_t launched = WithWidth(matrix, d, [&]<typename T, int kWidth>() {
    MomentsKernel<T, kWidth><<<d.grid(), d.block(), 0, stream>>>(
        static_cast<const T*>(x), matrix.channels, matrix.rows, d.chunk_rows, partial);
  });
  if (launched != cudaSuccess) return launched;
  BatchCoefficientsKernel<<<WarpBlocks(matrix.channels), dim3(kWarp, kChannelsOfBlock), 0,
                            stream>>>(partial, matrix.channels, matrix.rows, d.chunk_rows,
                                      static_cast<int>(d.chunks), parameters, coefficients,
                                      batch_mean, batch_variance);
  return cudaGetLastError();
}

cudaError_t RunningCoefficients(int64_t channels, const float* running_mean,
                                const float* running_variance, const ChannelParameters& parameters,
                                const ChannelCoefficients& coefficients, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((channels + kThreads - 1) / kThreads);
  RunningCoefficientsKernel<<<blocks, kThreads, 0, stream>>>(
      channels, running_mean, running_variance, parameters, coefficients);
  return cudaGetLastError();
}

cudaError_t CudaNormalize(const ChannelMatrix& matrix, const CudaNormalizePass& pass,
                          const ChannelCoefficients& coefficients, cudaStream_t stream) {
  const Division d = Divide(matrix);
  return WithWidth(matrix, d, [&]<typename T, int kWidth>() {
    NormalizeKernel<T, kWidth><<<d.grid(), d.block(), 0, stream>>>(
        static_cast<const T*>(pass.x), static_cast<const T*>(pass.shortcut), pass.relu,
        coefficients.scale, coefficients.shift, matrix.channels, matrix.rows, d.chunk_rows,
        static_cast<T*>(pass.y));
  });
}

cudaError_t CudaGradientSums(const ChannelMatrix& matrix, const CudaGradientPass& pass,
                             const ChannelCoefficients& coefficients,
                             const InputCoefficients& input, const LossScaled& scaled,
                             float* weight_gradient, float* bias_gradient, float* partial,
                             cudaStream_t stream) {
  return Sums(matrix, pass, coefficients.mean, scaled,
              {coefficients, input, weight_gradient, bias_gradient}, partial, stream);
}

cudaError_t CudaInputGradient(const ChannelMatrix& matrix, const void* x, const void* g,
                              const ChannelCoefficients& coefficients,
                              const InputCoefficients& input, void* dx, cudaStream_t stream) {
  const Division d = Divide(matrix);
  return WithWidth(matrix, d, [&]<typename T, int kWidth>() {
    InputGradientKernel<T, kWidth><<<d.grid(), d.block(), 0, stream>>>(
        static_cast<const T*>(x), static_cast<const T*>(g), coefficients, input, matrix.channels,
        matrix.rows, d.chunk_rows, static_cast<T*>(dx));
  });
}

cudaError_t CudaBiasGradient(const ChannelMatrix& matrix, const void* dy, const LossScaled& scaled,
                             float* gradient, float* partial, cudaStream_t stream) {
  // Nothing is written into dy, since y and dy2 are null.
  return Sums(matrix, {.dy = const_cast<void*>(dy)}, nullptr, scaled, {.bias_gradient = gradient},
              partial, stream);
}

}  // namespace grapevine
