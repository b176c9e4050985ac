// The machinery of passes that compute squared norms of tensors on a GPU (kernels/vector/norms.h):
// norms of a vector, or of the values that a function of several vectors gives for each element.
// The bits are those of the CPU; a pass takes one sweep over device memory. Device code: included
// only by .cu files.
//
// A Source gives the elements whose squares are summed:
//   - kBatch: the number of rows of 16 bytes of each vector that a thread has in flight;
//   - Aligned(i): whether elements [i, i + 4) may be loaded at once; i is the start of a tensor;
//   - One(i), FourAt(i): element i, and elements [i, i + 4).
//
// Internal to kernels/cuda/.
#ifndef GRAPEVINE_KERNELS_CUDA_NORM_PASS_H_
#define GRAPEVINE_KERNELS_CUDA_NORM_PASS_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/passes/ordered_sum.h"
#include "kernels/vector/norms.h"

namespace grapevine {

inline constexpr int kNormThreads = 256;
// Threads of a chunk. Each holds four lanes of it, and reads 16 bytes of every row of lanes.
inline constexpr int kChunkThreads = kSumLanes / 4;
inline constexpr int kChunksOfBlock = kNormThreads / kChunkThreads;

struct Four {
  float lane[4];
};

__device__ __forceinline__ Four LoadFour(const float* elements) {
  const float4 four = __ldcs(reinterpret_cast<const float4*>(elements));
  return {{four.x, four.y, four.z, four.w}};
}

// The tensors of one launch, as a kernel's argument. Together with a Source, the table fits the
// 4 KiB that arguments may have.
struct SpanTable {
  static constexpr size_t kMaxTensors = 128;
  int count;
  TensorSpan tensors[kMaxTensors];
};

// Returns the elements at places [place, place + 4) of a chunk that has `size` elements and begins
// at element `start` of the vector. Unless kWhole, the chunk is not complete or not aligned: its
// elements are then loaded one by one, and those past the end are 0, which adds nothing to a sum of
// squares.
template <bool kWhole, typename Source>
__device__ __forceinline__ Four PlacesOf(const Source& source, int64_t start, int size, int place) {
  if constexpr (kWhole) {
    return source.FourAt(start + place);
  } else {
    Four four = {};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (place + j < size) four.lane[j] = source.One(start + place + j);
    }
    return four;
  }
}

// Adds a chunk to this thread's four lanes.
template <bool kWhole, typename Source>
__device__ __forceinline__ void AddRows(const Source& source, int64_t start, int size,
                                        double (&lanes)[4]) {
  constexpr int kRows = kWhole ? Source::kBatch : Source::kBatch / 2;  // more would spill
  const int thread = threadIdx.x % kChunkThreads;
#pragma unroll 1
  for (int row = 0; row < size; row += kRows * kSumLanes) {
    Four loaded[kRows];
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
      loaded[b] =
          PlacesOf<kWhole>(source, start, size, static_cast<int>(row + b * kSumLanes + 4 * thread));
    }
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) lanes[j] += Square(loaded[b].lane[j]);
    }
  }
}

// Returns the sum over the tensor's chunk `chunk`; the result is valid in the first of the
// kChunkThreads threads that call with the same chunk. Every thread of a warp must call; chunks
// past the last are empty.
template <typename Source>
__device__ __forceinline__ double SumChunk(const Source& source, const TensorSpan& tensor,
                                           int64_t chunk) {
  const int64_t begin = chunk * kSumChunk;
  const int size = static_cast<int>(max(min(tensor.size - begin, kSumChunk), int64_t{0}));
  const int64_t start = tensor.offset + begin;
  double lanes[4] = {};
  if (size == kSumChunk && source.Aligned(tensor.offset)) {
    AddRows<true>(source, start, size, lanes);
  } else {
    AddRows<false>(source, start, size, lanes);
  }
  // Lane 4 t + j takes lane 4 (t + half) + j.
#pragma unroll
  for (int half = kChunkThreads / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      lanes[j] += __shfl_down_sync(0xffffffff, lanes[j], half, kChunkThreads);
    }
  }
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

// Returns the last tensor whose first chunk is at or before `chunk`. If several tensors begin at
// that chunk, all but the last are empty.
__device__ __forceinline__ TensorSpan TensorOf(const SpanTable& table, int64_t chunk) {
  int first = 0, past = table.count;
  while (past - first > 1) {
    const int middle = (first + past) / 2;
    (table.tensors[middle].first_chunk <= chunk ? first : past) = middle;
  }
  return table.tensors[first];
}

// sums[c] <- the sum over chunk c, for c in [first, end).
template <typename Source>
__global__ void __launch_bounds__(kNormThreads, 3)
    NormChunksKernel(Source source, SpanTable table, int64_t first, int64_t end, double* sums) {
  const int64_t chunk = first + int64_t{blockIdx.x} * kChunksOfBlock + threadIdx.x / kChunkThreads;
  TensorSpan tensor;
  if (chunk < end) tensor = TensorOf(table, chunk);
  const double sum = SumChunk(source, tensor, chunk - tensor.first_chunk);
  if (threadIdx.x % kChunkThreads == 0 && chunk < end) sums[chunk] = sum;
}

// norms[t] <- the sum of the chunk sums of tensor t, by one block of kChunkLanes threads.
template <typename Source>
__global__ void __launch_bounds__(kChunkLanes)
    NormsKernel(SpanTable table, const double* __restrict__ chunk_sums, double* norms) {
  __shared__ double lanes[kChunkLanes];
  const TensorSpan tensor = table.tensors[blockIdx.x];
  const double* const sums = chunk_sums + tensor.first_chunk;
  const int64_t chunks = ChunksOf(tensor.size);
  double lane = 0;
#pragma unroll 8
  for (int64_t chunk = threadIdx.x; chunk < chunks; chunk += kChunkLanes) lane += sums[chunk];
  lanes[threadIdx.x] = lane;
  for (int half = kChunkLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) lanes[threadIdx.x] += lanes[threadIdx.x + half];
  }
  if (threadIdx.x == 0) norms[blockIdx.x] = lanes[0];
}

// Starts the computation of norms[t] for each tensor t, with two launches for every kMaxTensors
// tensors. `sums` has room for all their chunks.
template <typename Source>
cudaError_t SquaredNorms(const Source& source, std::span<const TensorSpan> tensors, double* norms,
                         double* sums, cudaStream_t stream) {
  while (!tensors.empty()) {
    SpanTable table;
    const std::span<const TensorSpan> some =
        tensors.first(std::min(tensors.size(), SpanTable::kMaxTensors));
    table.count = static_cast<int>(some.size());
    std::copy(some.begin(), some.end(), table.tensors);
    const int64_t first = some.front().first_chunk, end = TotalChunks(some);
    if (end > first) {
      const auto blocks =
          static_cast<unsigned>((end - first + kChunksOfBlock - 1) / kChunksOfBlock);
      NormChunksKernel<Source>
          <<<blocks, kNormThreads, 0, stream>>>(source, table, first, end, sums);
    }
    NormsKernel<Source>
        <<<static_cast<unsigned>(table.count), kChunkLanes, 0, stream>>>(table, sums, norms);
    tensors = tensors.subspan(some.size());
    norms += some.size();
  }
  return cudaGetLastError();
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_NORM_PASS_H_
