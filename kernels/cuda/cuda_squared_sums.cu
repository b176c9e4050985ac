#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/cuda_squared_sums.h"
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

// A kind of term: kBatch rows of it, eight loads of 16 bytes, are in flight together.
// With three eighths of the threads' places occupied, 96 KiB on a multiprocessor.
struct NormTerm {
  static constexpr int kBatch = 8;
  using Loaded = Four;

  const float* vector;
  bool aligned;

  template <bool kWhole>
  __device__ __forceinline__ Loaded Load(const Piece& piece, int place) const {
    return LoadFour<kWhole>(vector, piece, place);
  }
  __device__ __forceinline__ static double Term(const Loaded& four, int j) {
    return Square(four.lane[j]);
  }
};

struct DistanceTerm {
  static constexpr int kBatch = 4;
  struct Loaded {
    Four a, b;
  };

  const float* a;
  const float* b;
  bool aligned;

  template <bool kWhole>
  __device__ __forceinline__ Loaded Load(const Piece& piece, int place) const {
    return {LoadFour<kWhole>(a, piece, place), LoadFour<kWhole>(b, piece, place)};
  }
  __device__ __forceinline__ static double Term(const Loaded& fours, int j) {
    return SquaredDifference(fours.a.lane[j], fours.b.lane[j]);
  }
};

// Adds a piece to this thread's four lanes.
template <bool kWhole, typename Term>
__device__ __forceinline__ void AddRows(const Term& term, const Piece& piece, double (&lanes)[4]) {
  constexpr int kRows = kWhole ? Term::kBatch : Term::kBatch / 2;  // or it would spill
  const int thread = threadIdx.x % kChunkThreads;
#pragma unroll 1
  for (int row = 0; row < piece.to; row += kRows * kSumLanes) {
    typename Term::Loaded loaded[kRows];
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
      loaded[b] = term.template Load<kWhole>(piece, row + b * kSumLanes + 4 * thread);
    }
#pragma unroll
    for (int b = 0; b < kRows; ++b) {
#pragma unroll
      for (int j = 0; j < 4; ++j) lanes[j] += Term::Term(loaded[b], j);
    }
  }
}

// The sum over chunk `chunk` of those that [begin, end) touches, in the first of the
// kChunkThreads threads that are here with the same chunk. Chunks past the last are
// empty: every thread of a warp must be here.
template <typename Term>
__device__ __forceinline__ double SumChunk(const Term& term, int64_t begin, int64_t end,
                                           int64_t chunk) {
  const int64_t start = (begin / kSumChunk + chunk) * kSumChunk;
  const Piece piece{.start = start,
                    .from = static_cast<int>(max(begin - start, int64_t{0})),
                    .to = static_cast<int>(max(min(end - start, kSumChunk), int64_t{0}))};
  double lanes[4] = {};
  if (term.aligned && piece.from == 0 && piece.to == kSumChunk) {
    AddRows<true>(term, piece, lanes);
  } else {
    AddRows<false>(term, piece, lanes);
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

template <typename Term>
__global__ void __launch_bounds__(kThreads, 3)
    DistanceChunksKernel(Term term, int64_t size, double* sums) {
  const int64_t chunk = MyChunk();
  const double sum = SumChunk(term, 0, size, chunk);
  if (threadIdx.x % kChunkThreads == 0 && chunk < ChunksOf(0, size)) sums[chunk] = sum;
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
    NormChunksKernel(NormTerm term, const TensorSpan* __restrict__ tensors, int count,
                     int64_t chunks, double* sums) {
  const int64_t chunk = MyChunk();
  TensorSpan tensor;
  if (chunk < chunks) tensor = TensorOf(tensors, count, chunk);
  const double sum =
      SumChunk(term, tensor.offset, tensor.offset + tensor.size, chunk - tensor.first_chunk);
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
    DistanceKernel(const double* __restrict__ sums, int64_t chunks, double* distance) {
  SumOfChunks(sums, chunks, distance);
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
    const NormTerm term{vector, IsAligned(vector)};
    NormChunksKernel<<<BlocksOf(chunks), kThreads, 0, stream>>>(term, tensors, count, chunks, sums);
  }
  NormsKernel<<<static_cast<unsigned>(count), kChunkLanes, 0, stream>>>(sums, tensors, norms);
  return cudaGetLastError();
}

size_t CudaSquaredDistanceWorkspace(int64_t size) {
  return static_cast<size_t>(ChunksOf(0, size)) * sizeof(double);
}

cudaError_t CudaSquaredDistance(const float* a, const float* b, int64_t size, double* distance,
                                void* workspace, cudaStream_t stream) {
  const int64_t chunks = ChunksOf(0, size);
  double* const sums = static_cast<double*>(workspace);
  if (chunks > 0) {
    const DistanceTerm term{a, b, IsAligned(a) && IsAligned(b)};
    DistanceChunksKernel<DistanceTerm><<<BlocksOf(chunks), kThreads, 0, stream>>>(term, size, sums);
  }
  DistanceKernel<<<1, kChunkLanes, 0, stream>>>(sums, chunks, distance);
  return cudaGetLastError();
}

}  // namespace grapevine
