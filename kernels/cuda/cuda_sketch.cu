#include <cuda_runtime.h>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/passes/sketch.h"

namespace grapevine {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 4;  // warps of a block: few, so that few chunks too spread over the GPU
// The number of groups whose elements a warp has in flight together: 2 KiB, and 24 KiB and more on
// a multiprocessor from 25 million elements on.
constexpr int kBatch = 8;

static_assert(kSketchGroup == 2 * kWarp && kSketchRound == kWarp * kSketchGroup);

// This thread's two elements of a group. Elements past the end are 0, which changes no sum.
struct Pair {
  float low, high;
};

__device__ __forceinline__ Pair LoadPair(const float* __restrict__ vector, int64_t i, int64_t end) {
  return {i < end ? __ldcs(vector + i) : 0.0f, i + kWarp < end ? __ldcs(vector + i + kWarp) : 0.0f};
}

// Adds the chunk [begin, end) to the warp's buckets in shared memory. No atomics are needed: the
// elements of a group go to different buckets, and groups follow each other.
__device__ __forceinline__ void AddChunk(const float* __restrict__ vector, int64_t begin,
                                         int64_t end, const SketchHash& hash,
                                         volatile double* buckets) {
  const int thread = threadIdx.x % kWarp;
  for (int64_t round = begin; round < end; round += kSketchRound) {
    const int64_t group = round / kSketchGroup + thread;
    const unsigned long long signs = hash.Signs(group);
    const int bucket = hash.Bucket(group);
    for (int first = 0; first < kWarp; first += kBatch) {
      Pair pairs[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        pairs[b] = LoadPair(vector, round + (first + b) * kSketchGroup + thread, end);
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const uint64_t group_signs = __shfl_sync(0xffffffff, signs, first + b);
        volatile double* const mine = buckets + __shfl_sync(0xffffffff, bucket, first + b) + thread;
        mine[0] = mine[0] + SketchTerm(pairs[b].low, group_signs, thread);
        mine[kWarp] = mine[kWarp] + SketchTerm(pairs[b].high, group_signs, thread + kWarp);
        __syncwarp();
      }
    }
  }
}

// sketches[c] <- the sketch of chunk c.
__global__ void __launch_bounds__(kWarps* kWarp)
    ChunkSketchesKernel(const float* __restrict__ vector, int64_t size, int64_t chunk_size,
                        SketchHash hash, double* __restrict__ sketches) {
  __shared__ double open[kWarps][kOpenSketchSize];
  const int thread = threadIdx.x % kWarp;
  volatile double* const buckets = open[threadIdx.x / kWarp];
  const int64_t chunk = int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  const int64_t begin = chunk * chunk_size;
  if (begin >= size) return;  // holds for the whole warp
  for (int j = thread; j < kOpenSketchSize; j += kWarp) buckets[j] = 0;
  __syncwarp();
  AddChunk(vector, begin, min(size, begin + chunk_size), hash, buckets);
  for (int j = thread; j < kSketchSize; j += kWarp) {
    const double sum = j < kSketchGroup ? buckets[j] + buckets[kSketchSize + j] : buckets[j];
    sketches[chunk * kSketchSize + j] = sum;
  }
}

// Buckets of a block of SketchKernel: 64 bytes of every chunk's sketch.
constexpr int kBuckets = 8;

__global__ void __launch_bounds__(kSketchLanes* kBuckets)
    SketchKernel(const double* __restrict__ sketches, int64_t chunks, double* __restrict__ sketch) {
  __shared__ double lanes[kSketchLanes][kBuckets];
  const int lane = threadIdx.x / kBuckets, bucket = threadIdx.x % kBuckets;
  const int64_t place = int64_t{blockIdx.x} * kBuckets + bucket;
  double sum = 0;
#pragma unroll 8
  for (int64_t chunk = lane; chunk < chunks; chunk += kSketchLanes) {
    sum += sketches[chunk * kSketchSize + place];
  }
  lanes[lane][bucket] = sum;
  for (int half = kSketchLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) lanes[lane][bucket] += lanes[lane + half][bucket];
  }
  if (lane == 0) sketch[place] = lanes[0][bucket];
}

}  // namespace

size_t CudaSketchWorkspace(int64_t size) {
  return static_cast<size_t>(SketchChunks(size) * kSketchSize) * sizeof(double);
}

cudaError_t CudaSketch(const float* vector, int64_t size, uint64_t seed, double* sketch,
                       void* workspace, cudaStream_t stream) {
  const int64_t chunks = SketchChunks(size);
  double* const sketches = static_cast<double*>(workspace);
  if (chunks > 0) {
    const auto blocks = static_cast<unsigned>((chunks + kWarps - 1) / kWarps);
    ChunkSketchesKernel<<<blocks, kWarps * kWarp, 0, stream>>>(vector, size, SketchChunk(size),
                                                               SketchHash(seed), sketches);
  }
  SketchKernel<<<kSketchSize / kBuckets, kSketchLanes * kBuckets, 0, stream>>>(sketches, chunks,
                                                                               sketch);
  return cudaGetLastError();
}

}  // namespace grapevine
