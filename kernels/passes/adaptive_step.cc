#include "kernels/passes/block_sum.h"
#include "kernels/passes/mix_and_step.h"

namespace grapevine {
namespace {

template <Decay kDecay>
struct AdamRule {
  const AdamStep& step;

  GRAPEVINE_INLINE void operator()(int64_t offset, int64_t size, float* __restrict block) const {
    const float* own = step.own + (kDecay == Decay::kNone ? 0 : offset);
    const float* gradient = step.gradient + offset;
    float* __restrict mean = step.mean + offset;
    float* __restrict square = step.square + offset;
    const AdamCoefficients adam = step.adam;
    const float rate = step.learning_rate;
    for (int64_t i = 0; i < size; ++i) {
      const float x = kDecay == Decay::kNone ? 0 : own[i];
      AdamMoments<kDecay>(adam, gradient[i], x, mean + i, square + i);
      block[i] -= rate * AdamUpdate<kDecay>(adam, mean[i], square[i], x);
    }
  }
};

template <bool kDecay>
struct AdagradRule {
  const AdagradStep& step;

  GRAPEVINE_INLINE void operator()(int64_t offset, int64_t size, float* __restrict block) const {
    const float* own = step.own + (kDecay ? offset : 0);
    const float* gradient = step.gradient + offset;
    float* __restrict sum = step.sum + offset;
    const AdagradStep rule = step;
    for (int64_t i = 0; i < size; ++i) {
      block[i] -= rule.learning_rate *
                  AdagradUpdate<kDecay>(rule, gradient[i], kDecay ? own[i] : 0, sum + i);
    }
  }
};

template <typename Rule, typename Step>
void Run(InstructionSet set, std::span<const WeightedVector> mix, const Step& step, int64_t size,
         float* out) {
  RunKernel<MixKernel<Rule>>(set, mix, Rule{step}, size, out);
}

}  // namespace

void MixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, int64_t size, float* out,
                InstructionSet set) {
  switch (step.adam.decay) {
    case Decay::kNone:
      return Run<AdamRule<Decay::kNone>>(set, mix, step, size, out);
    case Decay::kGradient:
      return Run<AdamRule<Decay::kGradient>>(set, mix, step, size, out);
    case Decay::kUpdate:
      return Run<AdamRule<Decay::kUpdate>>(set, mix, step, size, out);
  }
}

void MixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step, int64_t size,
                float* out, InstructionSet set) {
  if (step.weight_decay == 0) return Run<AdagradRule<false>>(set, mix, step, size, out);
  Run<AdagradRule<true>>(set, mix, step, size, out);
}

}  // namespace grapevine
