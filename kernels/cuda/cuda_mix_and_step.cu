#include "kernels/cuda/cuda_passes.h"
#include "kernels/cuda/mix_pass.h"
#include "kernels/passes/mix_and_step.h"

namespace grapevine {
namespace {

// out <- sum - learning_rate * update. Decay and Nesterov are run-time tests, which all threads
// decide alike: compiling a kernel for each would cost more than the tests do.
template <bool kMomentum>
struct SgdPass {
  SgdStep step;

  template <int kWidth>
  struct Streams {
    Pack<kWidth> gradient, own, velocity;
  };

  template <int kWidth>
  __device__ __forceinline__ void Load(int64_t i, Streams<kWidth>* streams) const {
    streams->gradient = LoadPack<kWidth>(step.gradient + i);
    if (step.weight_decay != 0) streams->own = LoadPack<kWidth>(step.own + i);
    if constexpr (kMomentum) streams->velocity = LoadPack<kWidth>(step.velocity + i);
  }

  template <int kWidth>
  __device__ __forceinline__ Pack<kWidth> Apply(const Pack<kWidth>& sum, int64_t i,
                                                Streams<kWidth>& streams) const {
    const Pack<kWidth> result =
        step.weight_decay != 0 ? Decayed<true>(sum, &streams) : Decayed<false>(sum, &streams);
    if constexpr (kMomentum) StorePack(streams.velocity, step.velocity + i);
    return result;
  }

 private:
  template <bool kDecay, int kWidth>
  __device__ __forceinline__ Pack<kWidth> Decayed(const Pack<kWidth>& sum,
                                                  Streams<kWidth>* streams) const {
    if constexpr (!kMomentum) {
      return Moved<Momentum::kNone, kDecay>(sum, streams);
    } else if (step.nesterov) {
      return Moved<Momentum::kNesterov, kDecay>(sum, streams);
    } else {
      return Moved<Momentum::kHeavyBall, kDecay>(sum, streams);
    }
  }

  template <Momentum kRule, bool kDecay, int kWidth>
  __device__ __forceinline__ Pack<kWidth> Moved(Pack<kWidth> sum, Streams<kWidth>* streams) const {
    const SgdCoefficients sgd{step.gradient_scale, step.weight_decay, step.momentum};
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      sum.lane[j] -= step.learning_rate * SgdUpdate<kRule, kDecay>(sgd, streams->gradient.lane[j],
                                                                   streams->own.lane[j],
                                                                   &streams->velocity.lane[j]);
    }
    return sum;
  }
};

}  // namespace

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                           float* out, cudaStream_t stream) {
  const float* const own = step.weight_decay == 0 ? nullptr : step.own;
  if (step.momentum == 0) {
    return Mix(mix, SgdPass<false>{step}, {step.gradient, own}, size, out, stream);
  }
  return Mix(mix, SgdPass<true>{step}, {step.gradient, own, step.velocity}, size, out, stream);
}

}  // namespace grapevine
