#include <cuda_runtime.h>

#include <algorithm>
#include <bit>

#include "kernels/codec/quantize.h"
#include "kernels/codec/top_k.h"
#include "kernels/cuda/cuda_codec.h"

namespace grapevine {
namespace {

// Threads of a block, for every kernel of this file.
constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;

// Four neighbouring elements, and the type as which one access moves them.
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

// The number of loads of 16 or 8 bytes that a thread has in flight: 64 or 32 KiB and more on a
// multiprocessor at an occupancy of three quarters.
constexpr int kUnroll = 4;

// Converts kUnroll times four elements per thread. `fours` is 0 if accesses are not aligned;
// elements that are not in a four are converted one by one.
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

// The number of rows of an int8 block. A warp has a block: its thread t has elements
// 128 r + 4 t + [0, 4) for eight rows r, all in flight together (4 KiB a warp), and no barrier
// waits for other warps.
constexpr int kBlockRows = kInt8Block / (4 * kWarp);

// Loads elements [i, i + 4); those from `size` on are 0. `whole` says that all four are inside and
// aligned.
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

// `padded` is the end of the scales and of the zeros after them, in floats.
__global__ void __launch_bounds__(kThreads)
    QuantizeKernel(const float* __restrict__ in, bool aligned, int64_t size, uint64_t key,
                   int64_t padded, float* __restrict__ scales, int8_t* __restrict__ out) {
  const int64_t block = BlockOfWarp();
  const int thread = threadIdx.x % kWarp;
  const int64_t begin = block * kInt8Block;
  if (begin >= size) {
    if (block < padded && thread == 0) scales[block] = 0;
    return;  // holds for the whole warp
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

namespace {

// A thread has kRows loads of 4 bytes in flight: 64 KiB and more on a multiprocessor at an
// occupancy of one half. Rows of a warp are neighbours, so that ballots are in order.
constexpr int kRows = 16;
constexpr int64_t kChunk = int64_t{kThreads} * kRows;

// The numbers of entries above the threshold and at it, in a chunk or in all chunks before it.
struct Counts {
  uint32_t above, equal;
};

struct Workspace {
  TopKThreshold* threshold;
  uint32_t* digits;  // kDigits counts of a round's digits; zero between rounds
  Counts* chunks;
};

constexpr size_t kChunksOffset = 16 + kDigits * sizeof(uint32_t);

Workspace Divide(void* memory) {
  auto* const bytes = static_cast<char*>(memory);
  return {reinterpret_cast<TopKThreshold*>(bytes), reinterpret_cast<uint32_t*>(bytes + 16),
          reinterpret_cast<Counts*>(bytes + kChunksOffset)};
}

int64_t Chunks(int64_t size) { return (size + kChunk - 1) / kChunk; }

// Returns the index of this thread's first entry of a chunk; row r is at FirstRow() + r * kWarp.
__device__ __forceinline__ int64_t FirstRow(int64_t chunk) {
  return chunk * kChunk + threadIdx.x / kWarp * (kRows * kWarp) + threadIdx.x % kWarp;
}

__device__ __forceinline__ void LoadRows(const float* __restrict__ vector, int64_t first,
                                         int64_t size, float (&rows)[kRows]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    rows[r] = first + r * kWarp < size ? vector[first + r * kWarp] : 0.0f;
  }
}

__global__ void BeginKernel(uint32_t k, TopKThreshold* threshold, uint32_t* digits) {
  for (int digit = threadIdx.x; digit < kDigits; digit += kThreads) digits[digit] = 0;
  if (threadIdx.x == 0) *threshold = {.key = 0, .wanted = k};
}

// digits <- digits + the counts of this round. The counts are integers, so that the order of the
// atomics does not matter.
__global__ void __launch_bounds__(kThreads)
    CountDigitsKernel(const float* __restrict__ vector, int64_t size, int64_t chunks,
                      const TopKThreshold* __restrict__ found, int round, uint32_t* digits) {
  __shared__ uint32_t counts[kDigits];
  for (int digit = threadIdx.x; digit < kDigits; digit += kThreads) counts[digit] = 0;
  __syncthreads();
  const TopKThreshold threshold = *found;
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const int64_t first = FirstRow(chunk);
    float rows[kRows];
    LoadRows(vector, first, size, rows);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const uint32_t key = MagnitudeKey(rows[r]);
      if (first + r * kWarp < size && IsCandidate(key, threshold, round)) {
        atomicAdd(&counts[DigitOf(key, round)], 1u);
      }
    }
  }
  __syncthreads();
  for (int digit = threadIdx.x; digit < kDigits; digit += kThreads) {
    if (counts[digit] > 0) atomicAdd(&digits[digit], counts[digit]);
  }
}

// Returns the sum of `value` over the threads before this one. All threads of the block must call.
// `scratch` holds kThreads words.
__device__ __forceinline__ uint32_t SumBefore(uint32_t value, uint32_t* scratch) {
  scratch[threadIdx.x] = value;
  for (int reach = 1; reach < kThreads; reach *= 2) {
    __syncthreads();
    const uint32_t before = threadIdx.x >= reach ? scratch[threadIdx.x - reach] : 0;
    __syncthreads();
    scratch[threadIdx.x] += before;
  }
  return scratch[threadIdx.x] - value;
}

// Finds the round's digit, by one block: each thread looks at 8 digits, from the highest down.
__global__ void __launch_bounds__(kThreads)
    FindDigitKernel(TopKThreshold* threshold, int round, uint32_t* digits) {
  constexpr int kMine = kDigits / kThreads;
  __shared__ uint32_t scratch[kThreads];
  const TopKThreshold found = *threshold;
  const int highest = kDigits - 1 - static_cast<int>(threadIdx.x) * kMine;
  uint32_t mine[kMine], sum = 0;
#pragma unroll
  for (int j = 0; j < kMine; ++j) {
    mine[j] = digits[highest - j];
    digits[highest - j] = 0;
    sum += mine[j];
  }
  uint32_t above = SumBefore(sum, scratch);
#pragma unroll
  for (int j = 0; j < kMine; ++j) {
    if (above < found.wanted && found.wanted <= above + mine[j]) {
      *threshold = WithDigit(found, round, static_cast<uint32_t>(highest - j), above);
    }
    above += mine[j];
  }
}

// The threads of the warp that have an entry above the threshold, and at it.
struct Ballots {
  unsigned above, equal;
};

__device__ __forceinline__ Ballots Vote(float value, bool inside, uint32_t threshold) {
  const uint32_t key = MagnitudeKey(value);
  return {__ballot_sync(0xffffffff, inside && key > threshold),
          __ballot_sync(0xffffffff, inside && key == threshold)};
}

// Writes the counts of each warp of a chunk to the warp's place in `of_warps`.
__device__ __forceinline__ void CountWarps(const float (&rows)[kRows], int64_t first, int64_t size,
                                           uint32_t threshold, Counts* of_warps) {
  Counts counts = {0, 0};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Ballots ballots = Vote(rows[r], first + r * kWarp < size, threshold);
    counts.above += __popc(ballots.above);
    counts.equal += __popc(ballots.equal);
  }
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = counts;
  __syncthreads();
}

__device__ __forceinline__ Counts SumOf(const Counts* of_warps, int warps) {
  Counts sum = {0, 0};
  for (int warp = 0; warp < warps; ++warp) {
    sum.above += of_warps[warp].above;
    sum.equal += of_warps[warp].equal;
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    CountChunksKernel(const float* __restrict__ vector, int64_t size,
                      const TopKThreshold* __restrict__ threshold, Counts* chunks) {
  __shared__ Counts of_warps[kWarps];
  const int64_t first = FirstRow(blockIdx.x);
  float rows[kRows];
  LoadRows(vector, first, size, rows);
  CountWarps(rows, first, size, threshold->key, of_warps);
  if (threadIdx.x == 0) chunks[blockIdx.x] = SumOf(of_warps, kWarps);
}

// chunks[c] <- the sum of the chunks before c, by one block. Each thread has neighbouring chunks.
__global__ void __launch_bounds__(kThreads) SumChunksKernel(int64_t count, Counts* chunks) {
  __shared__ uint32_t scratch[kThreads];
  const int64_t each = (count + kThreads - 1) / kThreads;
  const int64_t begin = min(count, threadIdx.x * each), end = min(count, begin + each);
  Counts sum = {0, 0};
#pragma unroll 8
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    sum.above += chunks[chunk].above;
    sum.equal += chunks[chunk].equal;
  }
  Counts before;
  before.above = SumBefore(sum.above, scratch);
  before.equal = SumBefore(sum.equal, scratch);
#pragma unroll 8
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    const Counts mine = chunks[chunk];
    chunks[chunk] = before;
    before.above += mine.above;
    before.equal += mine.equal;
  }
}

// Writes the selected entries. The place of an entry is the number of earlier entries above the
// threshold, plus the number of earlier wanted entries at the threshold.
__global__ void __launch_bounds__(kThreads)
    WriteKernel(const float* __restrict__ vector, int64_t size,
                const TopKThreshold* __restrict__ found, const Counts* __restrict__ chunks,
                uint32_t* __restrict__ indices, float* __restrict__ values) {
  __shared__ Counts of_warps[kWarps];
  const TopKThreshold threshold = *found;
  const int64_t first = FirstRow(blockIdx.x);
  float rows[kRows];
  LoadRows(vector, first, size, rows);
  CountWarps(rows, first, size, threshold.key, of_warps);
  Counts before = SumOf(of_warps, threadIdx.x / kWarp);
  before.above += chunks[blockIdx.x].above;
  before.equal += chunks[blockIdx.x].equal;
  const unsigned lower = (1u << threadIdx.x % kWarp) - 1;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int64_t i = first + r * kWarp;
    const Ballots ballots = Vote(rows[r], i < size, threshold.key);
    const uint32_t above = before.above + __popc(ballots.above & lower);
    const uint32_t equal = before.equal + __popc(ballots.equal & lower);
    const unsigned mine = 1u << threadIdx.x % kWarp;
    if ((ballots.above & mine) != 0 || ((ballots.equal & mine) != 0 && equal < threshold.wanted)) {
      const uint32_t place = above + min(equal, threshold.wanted);
      indices[place] = static_cast<uint32_t>(i);
      values[place] = rows[r];
    }
    before.above += __popc(ballots.above);
    before.equal += __popc(ballots.equal);
  }
}

}  // namespace

size_t CudaTopKWorkspace(int64_t size) {
  return kChunksOffset + static_cast<size_t>(Chunks(size)) * sizeof(Counts);
}

cudaError_t CudaTopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values,
                     void* workspace, cudaStream_t stream) {
  if (k < 0 || k > size || size >= int64_t{1} << 32) return cudaErrorInvalidValue;
  if (k == 0) return cudaSuccess;
  const Workspace work = Divide(workspace);
  const int64_t chunks = Chunks(size);
  // The blocks are persistent, so that few counts are added up: 8, which is all that fit, on each
  // of up to 144 multiprocessors.
  const auto counting = static_cast<unsigned>(std::min<int64_t>(chunks, 8 * 144));
  const auto blocks = static_cast<unsigned>(chunks);
  BeginKernel<<<1, kThreads, 0, stream>>>(static_cast<uint32_t>(k), work.threshold, work.digits);
  for (int round = 0; round < kDigitRounds; ++round) {
    CountDigitsKernel<<<counting, kThreads, 0, stream>>>(vector, size, chunks, work.threshold,
                                                         round, work.digits);
    FindDigitKernel<<<1, kThreads, 0, stream>>>(work.threshold, round, work.digits);
  }
  CountChunksKernel<<<blocks, kThreads, 0, stream>>>(vector, size, work.threshold, work.chunks);
  SumChunksKernel<<<1, kThreads, 0, stream>>>(chunks, work.chunks);
  WriteKernel<<<blocks, kThreads, 0, stream>>>(vector, size, work.threshold, work.chunks, indices,
                                               values);
  return cudaGetLastError();
}

}  // namespace grapevine
