#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/codec/top_k.h"
#include "kernels/cuda/codec_block.h"
#include "kernels/cuda/cuda_codec.h"

namespace grapevine {
namespace {

// A thread has 16 loads of 4 bytes in flight: 64 KiB and more on a multiprocessor that
// is half occupied. Rows of a warp are neighbours, so that ballots are in order.
constexpr int kRows = 16;
constexpr int64_t kChunk = int64_t{kThreads} * kRows;

// How many entries of a chunk, or of all before it, are above the threshold and at it.
struct Counts {
  uint32_t above, equal;
};

struct Workspace {
  TopKThreshold* threshold;
  uint32_t* digits;  // counts of a round's digits, kDigits; zero between rounds
  Counts* chunks;
};

constexpr size_t kChunksOffset = 16 + kDigits * sizeof(uint32_t);

Workspace Divide(void* memory) {
  auto* const bytes = static_cast<char*>(memory);
  return {reinterpret_cast<TopKThreshold*>(bytes), reinterpret_cast<uint32_t*>(bytes + 16),
          reinterpret_cast<Counts*>(bytes + kChunksOffset)};
}

int64_t Chunks(int64_t size) { return (size + kChunk - 1) / kChunk; }

// This thread's entries of a chunk: row r is at FirstRow() + r * kWarp.
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

// digits <- digits + the counts of this round. Integers: the order of atomics is all one.
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

// The sum of `value` over the threads before this one; all threads are here. `scratch`
// holds kThreads words.
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

// One block finds the round's digit: each thread looks at 8, from the highest down.
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

// Which threads of the warp have an entry above the threshold, and at it.
struct Ballots {
  unsigned above, equal;
};

__device__ __forceinline__ Ballots Vote(float value, bool inside, uint32_t threshold) {
  const uint32_t key = MagnitudeKey(value);
  return {__ballot_sync(0xffffffff, inside && key > threshold),
          __ballot_sync(0xffffffff, inside && key == threshold)};
}

// What each warp of a chunk has, in the warps' places of `of_warps`.
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

// chunks[c] <- the sum of the chunks before c. One block, each thread of which has
// neighbouring chunks.
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

// Entry i goes after those before it that are above the threshold, and those at it as
// far as they are wanted.
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
  // Blocks that stay, so that few counts of theirs are added up: 8 on each of up to 144
  // multiprocessors, all that fit.
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
