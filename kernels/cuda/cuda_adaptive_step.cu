#include "kernels/cuda/cuda_passes.h"
#include "kernels/cuda/mix_pass.h"
#include "kernels/passes/mix_and_step.h"

namespace grapevine {
namespace {

// out <- sum - learning_rate * u.
template <Decay kDecay>
struct AdamPass {
  AdamStep step;

  template <int kWidth>
  struct Streams {
    Pack<kWidth> gradient, own, mean, square;
  };

  template <int kWidth>
  __device__ __forceinline__ void Load(int64_t i, Streams<kWidth>* streams) const {
    streams->gradient = LoadPack<kWidth>(step.gradient + i);
    if constexpr (kDecay != Decay::kNone) streams->own = LoadPack<kWidth>(step.own + i);
    streams->mean = LoadPack<kWidth>(step.mean + i);
    streams->square = LoadPack<kWidth>(step.square + i);
  }

  template <int kWidth>
  __device__ __forceinline__ Pack<kWidth> Apply(Pack<kWidth> sum, int64_t i,
                                                Streams<kWidth>& streams) const {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const float own = kDecay == Decay::kNone ? 0 : streams.own.lane[j];
      AdamMoments<kDecay>(step.adam, streams.gradient.lane[j], own, &streams.mean.lane[j],
                          &streams.square.lane[j]);
      sum.lane[j] -= step.learning_rate * AdamUpdate<kDecay>(step.adam, streams.mean.lane[j],
                                                             streams.square.lane[j], own);
    }
    StorePack(streams.mean, step.mean + i);
    StorePack(streams.square, step.square + i);
    return sum;
  }
};

// out <- sum - learning_rate * g / (sqrt(s) + epsilon). Decay is a run-time test, which all threads
// decide alike.
struct AdagradPass {
  AdagradStep step;

  template <int kWidth>
  struct Streams {
    Pack<kWidth> gradient, own, sum;
  };

  template <int kWidth>
  __device__ __forceinline__ void Load(int64_t i, Streams<kWidth>* streams) const {
    streams->gradient = LoadPack<kWidth>(step.gradient + i);
    if (step.weight_decay != 0) streams->own = LoadPack<kWidth>(step.own + i);
    streams->sum = LoadPack<kWidth>(step.sum + i);
  }

  template <int kWidth>
  __device__ __forceinline__ Pack<kWidth> Apply(const Pack<kWidth>& sum, int64_t i,
                                                Streams<kWidth>& streams) const {
    const Pack<kWidth> result =
        step.weight_decay != 0 ? Moved<true>(sum, &streams) : Moved<false>(sum, &streams);
    StorePack(streams.sum, step.sum + i);
    return result;
  }

 private:
  template <bool kDecay, int kWidth>
  __device__ __forceinline__ Pack<kWidth> Moved(Pack<kWidth> sum, Streams<kWidth>* streams) const {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      sum.lane[j] -=
          step.learning_rate * AdagradUpdate<kDecay>(step, streams->gradient.lane[j],
                                                     streams->own.lane[j], &streams->sum.lane[j]);
    }
    return sum;
  }
};

}  // namespace

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, int64_t size,
                           float* out, cudaStream_t stream) {
  switch (step.adam.decay) {
    case Decay::kGradient:
      return Mix(mix, AdamPass<Decay::kGradient>{step},
                 {step.gradient, step.own, step.mean, step.square}, size, out, stream);
    case Decay::kUpdate:
      return Mix(mix, AdamPass<Decay::kUpdate>{step},
                 {step.gradient, step.own, step.mean, step.square}, size, out, stream);
    case Decay::kNone:
      break;
  }
  return Mix(mix, AdamPass<Decay::kNone>{step}, {step.gradient, step.mean, step.square}, size, out,
             stream);
}

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step,
                           int64_t size, float* out, cudaStream_t stream) {
  const float* const own = step.weight_decay == 0 ? nullptr : step.own;
  return Mix(mix, AdagradPass{step}, {step.gradient, own, step.sum}, size, out, stream);
}

}  // namespace grapevine
