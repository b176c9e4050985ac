#include <cuda_runtime.h>

#include <algorithm>
#include <bit>

#include "kernels/codec/quantize.h"
#include "kernels/cuda/codec_block.h"
#include "kernels/cuda/cuda_codec.h"

namespace grapevine {
namespace {

// Four neighbouring elements, and what one access moves them as.
template <typename T>
struct Four {
  T lane[4];
};
template <typename T>
struct AccessOf;
template <>
struct AccessOf<float> {
  using Type = float4;
};
template <>
struct AccessOf<uint16_t> {
  using Type = uint2;
};
template <>
struct AccessOf<int8_t> {
  using Type = unsigned;
};

template <typename T>
bool IsAligned(const T* vector) {
  return reinterpret_cast<uintptr_t>(vector) % sizeof(Four<T>) == 0;
}

template <typename T>
__device__ __forceinline__ Four<T> LoadFour(const T* __restrict__ from) {
  return std::bit_cast<Four<T>>(__ldcs(reinterpret_cast<const typename AccessOf<T>::Type*>(from)));
}

template <typename T>
__device__ __forceinline__ void StoreFour(const Four<T>& four, T* __restrict__ to) {
  using Access = typename AccessOf<T>::Type;
  __stcs(reinterpret_cast<Access*>(to), std::bit_cast<Access>(four));
}

// Loads of 16 or 8 bytes that a thread has in flight: 64 or 32 KiB and more on a
// multiprocessor that is three quarters occupied.
constexpr int kUnroll = 4;

// A thread converts kUnroll times four elements; `fours` is 0 where accesses are not
// aligned, and what is not in a four is converted one by one.
template <auto kElement, typename In, typename Out>
__global__ void __launch_bounds__(kThreads)
    ConvertKernel(const In* __restrict__ in, int64_t fours, int64_t size, Out* __restrict__ out) {
  const int64_t first = int64_t{blockIdx.x} * kUnroll * kThreads + threadIdx.x;
  Four<In> loaded[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const int64_t four = first + u * kThreads;
    if (four < fours) loaded[u] = LoadFour(in + 4 * four);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const int64_t four = first + u * kThreads;
    Four<Out> converted;
#pragma unroll
    for (int j = 0; j < 4; ++j) converted.lane[j] = kElement(loaded[u].lane[j]);
    if (four < fours) StoreFour(converted, out + 4 * four);
  }
  const int64_t single = 4 * fours + int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (single < size) out[single] = kElement(in[single]);
}

unsigned Blocks(int64_t work, int64_t of_block) {
  return static_cast<unsigned>((work + of_block - 1) / of_block);
}

template <auto kElement, typename In, typename Out>
cudaError_t Convert(const In* in, int64_t size, Out* out, cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  const int64_t fours = IsAligned(in) && IsAligned(out) ? size / 4 : 0;
  const unsigned blocks =
      std::max(Blocks(fours, kUnroll * kThreads), Blocks(size - 4 * fours, kThreads));
  ConvertKernel<kElement, In, Out><<<blocks, kThreads, 0, stream>>>(in, fours, size, out);
  return cudaGetLastError();
}

// An int8 block is a warp's: its thread t has elements 128 r + 4 t + [0, 4) for eight
// rows r, all in flight together (4 KiB a warp), and no barrier waits for others.
constexpr int kBlockRows = kInt8Block / (4 * kWarp);

// Elements [i, i + 4), those from `size` on as 0.
template <typename T>
__device__ __forceinline__ Four<T> LoadUpTo(const T* __restrict__ in, bool whole, int64_t i,
                                            int64_t size) {
  if (whole) return LoadFour(in + i);
  Four<T> four = {};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (i + j < size) four.lane[j] = in[i + j];
  }
  return four;
}

template <typename T>
__device__ __forceinline__ void StoreUpTo(const Four<T>& four, T* __restrict__ out, bool whole,
                                          int64_t i, int64_t size) {
  if (whole) return StoreFour(four, out + i);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (i + j < size) out[i + j] = four.lane[j];
  }
}

__device__ __forceinline__ uint32_t LargestOfWarp(uint32_t largest) {
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffff, largest, half));
  }
  return largest;
}

__device__ __forceinline__ int64_t BlockOfWarp() {
  return int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
}

// `padded` is where the scales and the zeros after them end, in floats.
__global__ void __launch_bounds__(kThreads)
    QuantizeKernel(const float* __restrict__ in, bool aligned, int64_t size, uint64_t key,
                   int64_t padded, float* __restrict__ scales, int8_t* __restrict__ out) {
  const int64_t block = BlockOfWarp();
  const int thread = threadIdx.x % kWarp;
  const int64_t begin = block * kInt8Block;
  if (begin >= size) {
    if (block < padded && thread == 0) scales[block] = 0;
    return;  // the whole warp
  }
  const bool whole = aligned && begin + kInt8Block <= size;
  Four<float> fours[kBlockRows];
#pragma unroll
  for (int r = 0; r < kBlockRows; ++r) {
    fours[r] = LoadUpTo(in, whole, begin + 4 * (r * kWarp + thread), size);
  }
  uint32_t largest = 0;
#pragma unroll
  for (int r = 0; r < kBlockRows; ++r) {
#pragma unroll
    for (int j = 0; j < 4; ++j) largest = max(largest, MagnitudeBits(fours[r].lane[j]));
  }
  const Int8Scale scale = Int8ScaleOf(LargestOfWarp(largest));
  if (thread == 0) scales[block] = scale.scale;
#pragma unroll
  for (int r = 0; r < kBlockRows; ++r) {
    const int64_t i = begin + 4 * (r * kWarp + thread);
    const uint64_t random = MixAt(key, static_cast<uint64_t>(i) / 4);
    Four<int8_t> integers;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      integers.lane[j] = Int8Element(fours[r].lane[j], scale.inverse,
                                     static_cast<uint32_t>(random >> (16 * j)) & 0xffff);
    }
    StoreUpTo(integers, out, whole, i, size);
  }
}

__global__ void __launch_bounds__(kThreads)
    DequantizeKernel(const float* __restrict__ scales, const int8_t* __restrict__ in, bool aligned,
                     int64_t size, float* __restrict__ out) {
  const int64_t block = BlockOfWarp();
  const int thread = threadIdx.x % kWarp;
  const int64_t begin = block * kInt8Block;
  if (begin >= size) return;
  const bool whole = aligned && begin + kInt8Block <= size;
  const float scale = scales[block];
  Four<int8_t> integers[kBlockRows];
#pragma unroll
  for (int r = 0; r < kBlockRows; ++r) {
    integers[r] = LoadUpTo(in, whole, begin + 4 * (r * kWarp + thread), size);
  }
#pragma unroll
  for (int r = 0; r < kBlockRows; ++r) {
    Four<float> values;
#pragma unroll
    for (int j = 0; j < 4; ++j) values.lane[j] = Int8Value(integers[r].lane[j], scale);
    StoreUpTo(values, out, whole, begin + 4 * (r * kWarp + thread), size);
  }
}

}  // namespace

cudaError_t CudaConvertToFloat16(Float16Format format, const float* vector, int64_t size,
                                 uint16_t* halves, cudaStream_t stream) {
  return format == Float16Format::kHalf ? Convert<HalfBits>(vector, size, halves, stream)
                                        : Convert<BrainBits>(vector, size, halves, stream);
}

cudaError_t CudaConvertFromFloat16(Float16Format format, const uint16_t* halves, int64_t size,
                                   float* vector, cudaStream_t stream) {
  return format == Float16Format::kHalf ? Convert<HalfValue>(halves, size, vector, stream)
                                        : Convert<BrainValue>(halves, size, vector, stream);
}

cudaError_t CudaQuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                             cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  const int64_t offset = Int8ValuesOffset(size);
  const int64_t padded = offset / static_cast<int64_t>(sizeof(float));
  QuantizeKernel<<<Blocks(padded, kWarps), kThreads, 0, stream>>>(
      vector, IsAligned(vector), size, key, padded, reinterpret_cast<float*>(wire),
      reinterpret_cast<int8_t*>(wire + offset));
  return cudaGetLastError();
}

cudaError_t CudaDequantizeInt8(const std::byte* wire, int64_t size, float* vector,
                               cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  DequantizeKernel<<<Blocks(Int8Blocks(size), kWarps), kThreads, 0, stream>>>(
      reinterpret_cast<const float*>(wire),
      reinterpret_cast<const int8_t*>(wire + Int8ValuesOffset(size)), IsAligned(vector), size,
      vector);
  return cudaGetLastError();
}

}  // namespace grapevine
