// The machinery of passes that sum vectors on a GPU, shared by CudaWeightedSum and CudaMixAndStep.
// Device code: included only by .cu files.
//
// Each thread loads kUnroll packs of 16 bytes of every vector before it uses the first, so that
// even a pass over one vector keeps 32 KiB and more in flight on each multiprocessor (4.8 TB/s at
// 0.8 us of latency are 30 KiB). Loads are ld.global.cs, never .nc: the result may overwrite the
// vectors that are read.
//
// Internal to kernels/cuda/.
#ifndef GRAPEVINE_KERNELS_CUDA_MIX_PASS_H_
#define GRAPEVINE_KERNELS_CUDA_MIX_PASS_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/passes/mix_and_step.h"

namespace grapevine {

inline constexpr int kMixThreads = 256;
// Stands for a number of terms that is not fixed at compile time but given in the arguments.
inline constexpr int kAnyNumber = 0;

// The neighbouring elements that one access moves: 4 or 1.
template <int kWidth>
struct Pack {
  float lane[kWidth];
};

template <int kWidth>
__device__ __forceinline__ Pack<kWidth> LoadPack(const float* vector) {
  if constexpr (kWidth == 1) {
    return {{__ldcs(vector)}};
  } else {
    const float4 four = __ldcs(reinterpret_cast<const float4*>(vector));
    return {{four.x, four.y, four.z, four.w}};
  }
}

template <int kWidth>
__device__ __forceinline__ void StorePack(const Pack<kWidth>& pack, float* vector) {
  if constexpr (kWidth == 1) {
    __stcs(vector, pack.lane[0]);
  } else {
    __stcs(reinterpret_cast<float4*>(vector),
           make_float4(pack.lane[0], pack.lane[1], pack.lane[2], pack.lane[3]));
  }
}

// A sum's terms, as a kernel's argument.
template <int kTerms>
struct MixTerms {
  static constexpr size_t kMaxTerms = kTerms == kAnyNumber ? kMaxCudaTerms : kTerms;
  int count;
  float weights[kMaxTerms];
  const float* vectors[kMaxTerms];
};

// The division of a vector: `head` single elements, then `packs` packs of four that are aligned in
// every vector, then single elements up to `size`. Vectors with different alignments have only
// single elements.
struct MixShape {
  int64_t head;
  int64_t packs;
  int64_t size;

  __host__ __device__ int64_t singles() const { return size - 4 * packs; }
};

// A thread's registers for one pack between loading and storing: the terms, or with kAnyNumber
// their sum, and the vectors that the step reads.
template <int kTerms, int kWidth, typename Step>
class MixPack {
 public:
  // The number of terms that are loaded before the first is used.
  static constexpr int kGroup = kTerms == kAnyNumber ? 4 : kTerms;

  // Loads the pack that begins at element i.
  __device__ __forceinline__ void Load(const MixTerms<kTerms>& terms, const Step& step, int64_t i) {
    step.Load(i, &streams_);
    LoadGroup(terms, 0, i);
    if constexpr (kTerms == kAnyNumber) {
      Pack<kWidth> sum = SumGroup(terms, 0, {});
      for (int first = kGroup; first < terms.count; first += kGroup) {
        LoadGroup(terms, first, i);
        sum = SumGroup(terms, first, sum);
      }
      vectors_[0] = sum;
    }
  }

  __device__ __forceinline__ void Store(const MixTerms<kTerms>& terms, const Step& step, int64_t i,
                                        float* out) {
    const Pack<kWidth> sum = kTerms == kAnyNumber ? vectors_[0] : SumGroup(terms, 0, {});
    StorePack(step.Apply(sum, i, streams_), out + i);
  }

 private:
  __device__ __forceinline__ static bool Has(const MixTerms<kTerms>& terms, int k) {
    return kTerms != kAnyNumber || k < terms.count;
  }

  __device__ __forceinline__ void LoadGroup(const MixTerms<kTerms>& terms, int first, int64_t i) {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (Has(terms, first + k)) vectors_[k] = LoadPack<kWidth>(terms.vectors[first + k] + i);
    }
  }

  // The first product starts the sum, as on the CPU: -0 stays -0.
  __device__ __forceinline__ Pack<kWidth> SumGroup(const MixTerms<kTerms>& terms, int first,
                                                   Pack<kWidth> sum) const {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (!Has(terms, first + k)) break;
      const float weight = terms.weights[first + k];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const float product = weight * vectors_[k].lane[j];
        sum.lane[j] = first + k == 0 ? product : sum.lane[j] + product;
      }
    }
    return sum;
  }

  Pack<kWidth> vectors_[kGroup];
  typename Step::template Streams<kWidth> streams_;
};

// Returns the packs per thread: enough for 64 bytes or more, but few enough that the registers
// allow half occupancy.
constexpr int MixUnroll(int terms) { return terms == kAnyNumber ? 1 : terms == 1 ? 4 : 2; }

// out <- step(sum of terms). Every element is read and written by one thread, and its store depends
// on all its loads; `out` may therefore be one of the inputs.
template <int kTerms, typename Step>
__global__ void __launch_bounds__(kMixThreads)
    MixKernel(MixTerms<kTerms> terms, Step step, MixShape shape, float* out) {
  constexpr int kUnroll = MixUnroll(kTerms);
  const int64_t first = int64_t{blockIdx.x} * kUnroll * kMixThreads + threadIdx.x;
  MixPack<kTerms, 4, Step> packs[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const int64_t pack = first + u * kMixThreads;
    if (pack < shape.packs) packs[u].Load(terms, step, shape.head + 4 * pack);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const int64_t pack = first + u * kMixThreads;
    if (pack < shape.packs) packs[u].Store(terms, step, shape.head + 4 * pack, out);
  }
  const int64_t thread = int64_t{blockIdx.x} * kMixThreads + threadIdx.x;
  if (thread < shape.singles()) {
    const int64_t i = thread < shape.head ? thread : thread + 4 * shape.packs;
    MixPack<kTerms, 1, Step> single;
    single.Load(terms, step, i);
    single.Store(terms, step, i, out);
  }
}

// Returns the offset of `vector` from a boundary of 16 bytes, in elements.
inline int64_t PastBoundary(const float* vector) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(vector) % 16 / sizeof(float));
}

// Returns the division of the vectors. `streams` are the vectors that are read or written in
// addition to the terms; unused ones are null.
inline MixShape ShapeOf(std::span<const WeightedVector> terms,
                        std::initializer_list<const float*> streams, int64_t size, float* out) {
  const int64_t past = PastBoundary(out);
  const auto agrees = [past](const float* vector) {
    return vector == nullptr || PastBoundary(vector) == past;
  };
  const bool agree = std::all_of(streams.begin(), streams.end(), agrees) &&
                     std::all_of(terms.begin(), terms.end(),
                                 [&](const WeightedVector& term) { return agrees(term.vector); });
  if (!agree) return {.head = size, .packs = 0, .size = size};
  const int64_t head = std::min((4 - past) % 4, size);
  return {.head = head, .packs = (size - head) / 4, .size = size};
}

template <int kTerms, typename Step>
cudaError_t LaunchMix(std::span<const WeightedVector> terms, const Step& step,
                      const MixShape& shape, float* out, cudaStream_t stream) {
  MixTerms<kTerms> arguments;
  arguments.count = static_cast<int>(terms.size());
  for (size_t k = 0; k < terms.size(); ++k) {
    arguments.weights[k] = terms[k].weight;
    arguments.vectors[k] = terms[k].vector;
  }
  // One block for as many packs as its threads hold: the scheduler then overlaps one block's
  // stores with another's loads, and any GPU is full.
  const auto blocks = [](int64_t work, int64_t of_block) {
    return (work + of_block - 1) / of_block;
  };
  const int64_t wanted = std::max(blocks(shape.packs, MixUnroll(kTerms) * kMixThreads),
                                  blocks(shape.singles(), kMixThreads));
  MixKernel<kTerms, Step>
      <<<static_cast<unsigned>(wanted), kMixThreads, 0, stream>>>(arguments, step, shape, out);
  return cudaGetLastError();
}

// Launches the kernel for the number of terms.
template <typename Step>
cudaError_t Mix(std::span<const WeightedVector> terms, const Step& step,
                std::initializer_list<const float*> streams, int64_t size, float* out,
                cudaStream_t stream) {
  if (terms.size() > kMaxCudaTerms) return cudaErrorInvalidValue;
  if (size == 0) return cudaSuccess;
  const MixShape shape = ShapeOf(terms, streams, size, out);
  switch (terms.size()) {
    case 1:
      return LaunchMix<1>(terms, step, shape, out, stream);
    case 2:
      return LaunchMix<2>(terms, step, shape, out, stream);
    case 3:
      return LaunchMix<3>(terms, step, shape, out, stream);
    case 4:
      return LaunchMix<4>(terms, step, shape, out, stream);
    case 5:
      return LaunchMix<5>(terms, step, shape, out, stream);
    default:
      return LaunchMix<kAnyNumber>(terms, step, shape, out, stream);
  }
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_MIX_PASS_H_
