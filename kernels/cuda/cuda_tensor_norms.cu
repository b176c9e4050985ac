#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/cuda_tensor_norms.h"
#include "kernels/passes/ordered_sum.h"

namespace grapevine {
namespace {

constexpr int kThreads = 256;
// A chunk's: each holds four of its lanes, and reads 16 bytes of every row of lanes.
constexpr int kChunkThreads = kSumLanes / 4;
constexpr int kChunksOfBlock = kThreads / kChunkThreads;

struct Four {
  float lane[4];
};

bool IsAligned(const float* vector) { return reinterpret_cast<uintptr_t>(vector) % 16 == 0; }

// The places [from, to) of a chunk of a vector that begins at place `start` of it.
struct Piece {
  int64_t start;
  int from, to;
};

// The elements at places [place, place + 4) of a chunk. If not all of it is wanted, or
// it is not aligned, one by one, and those outside the piece as 0, which adds nothing
// to a sum of squares.
template <bool kWhole>
__device__ __forceinline__ Four LoadFour(const float* __restrict__ vector, const Piece& piece,
                                         int place) {
  const float* const elements = vector + piece.start + place;
  if constexpr (kWhole) {
    const float4 four = __ldcs(reinterpret_cast<const float4*>(elements));
    return {{four.x, four.y, four.z, four.w}};
  } else {
    Four four = {};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (piece.from <= place + j && place + j < piece.to) four.lane[j] = __ldcs(elements + j);
    }
    return four;
  }
}

// Rows of 16 bytes that a thread has in flight: with three eighths of the threads' places
// occupied, 96 KiB on a multiprocessor.
constexpr int kBatch = 8;

// Adds a piece to this thread's four lanes.
template <bool kWhole>
__device__ __forceinline__ void AddRows(const float* __restrict__ vector, const Piece& piece,
                                        double (&lanes)[4]) {
  constexpr int kRows = kWhole ? kBatch : kBatch / 2;  // or it would spill
  const int thread = threadIdx.x % kChunkThreads;
#pragma unroll 1
  for (int row = 0; row < piece.to; row += kRows * kSumLanes) {
    Four loaded[kRows];
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
      loaded[b] = LoadFour<kWhole>(vector, piece, row + b * kSumLanes + 4 * thread);
    }
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) lanes[j] += Square(loaded[b].lane[j]);
    }
  }
}

// The sum over chunk `chunk` of those that [begin, end) touches, in the first of the
// kChunkThreads threads that are here with the same chunk. Chunks past the last are
// empty: every thread of a warp must be here.
__device__ __forceinline__ double SumChunk(const float* __restrict__ vector, bool aligned,
                                           int64_t begin, int64_t end, int64_t chunk) {
  const int64_t start = (begin / kSumChunk + chunk) * kSumChunk;
  const Piece piece{.start = start,
                    .from = static_cast<int>(max(begin - start, int64_t{0})),
                    .to = static_cast<int>(max(min(end - start, kSumChunk), int64_t{0}))};
  double lanes[4] = {};
  if (aligned && piece.from == 0 && piece.to == kSumChunk) {
    AddRows<true>(vector, piece, lanes);
  } else {
    AddRows<false>(vector, piece, lanes);
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

// The chunk of this thread among all of the launch's.
__device__ __forceinline__ int64_t MyChunk() {
  return int64_t{blockIdx.x} * kChunksOfBlock + threadIdx.x / kChunkThreads;
}

// The last tensor whose first chunk is not after `chunk`: of tensors that begin there,
// all but the last are empty.
__device__ __forceinline__ TensorSpan TensorOf(const TensorSpan* __restrict__ tensors, int count,
                                               int64_t chunk) {
  int first = 0, past = count;
  while (past - first > 1) {
    const int middle = (first + past) / 2;
    (tensors[middle].first_chunk <= chunk ? first : past) = middle;
  }
  return tensors[first];
}

__global__ void __launch_bounds__(kThreads, 3)
    NormChunksKernel(const float* __restrict__ vector, bool aligned,
                     const TensorSpan* __restrict__ tensors, int count, int64_t chunks,
                     double* sums) {
  const int64_t chunk = MyChunk();
  TensorSpan tensor;
  if (chunk < chunks) tensor = TensorOf(tensors, count, chunk);
  const double sum = SumChunk(vector, aligned, tensor.offset, tensor.offset + tensor.size,
                              chunk - tensor.first_chunk);
  if (threadIdx.x % kChunkThreads == 0 && chunk < chunks) sums[chunk] = sum;
}

// *result <- the sum of the chunks' sums, by one block of kChunkLanes threads.
__device__ __forceinline__ void SumOfChunks(const double* __restrict__ sums, int64_t chunks,
                                            double* result) {
  __shared__ double lanes[kChunkLanes];
  double lane = 0;
#pragma unroll 8
  for (int64_t chunk = threadIdx.x; chunk < chunks; chunk += kChunkLanes) lane += sums[chunk];
  lanes[threadIdx.x] = lane;
  for (int half = kChunkLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) lanes[threadIdx.x] += lanes[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *result = lanes[0];
}

__global__ void __launch_bounds__(kChunkLanes)
    NormsKernel(const double* __restrict__ sums, const TensorSpan* __restrict__ tensors,
                double* norms) {
  const TensorSpan tensor = tensors[blockIdx.x];
  SumOfChunks(sums + tensor.first_chunk, ChunksOf(tensor.offset, tensor.offset + tensor.size),
              norms + blockIdx.x);
}

unsigned BlocksOf(int64_t chunks) {
  return static_cast<unsigned>((chunks + kChunksOfBlock - 1) / kChunksOfBlock);
}

}  // namespace

cudaError_t CudaTensorSquaredNorms(const float* vector, const TensorSpan* tensors, int count,
                                   int64_t chunks, double* norms, void* workspace,
                                   cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  double* const sums = static_cast<double*>(workspace);
  if (chunks > 0) {
    NormChunksKernel<<<BlocksOf(chunks), kThreads, 0, stream>>>(vector, IsAligned(vector), tensors,
                                                                count, chunks, sums);
  }
  NormsKernel<<<static_cast<unsigned>(count), kChunkLanes, 0, stream>>>(sums, tensors, norms);
  return cudaGetLastError();
}

}  // namespace grapevine
