#include "kernels/passes/mix_and_step.h"

#include "kernels/passes/block_sum.h"

namespace grapevine {

namespace {

template <Momentum kMomentum, bool kDecay>
struct SgdRule {
  const SgdStep& step;

  // block <- block - learning_rate * update at `offset`.
  GRAPEVINE_INLINE void operator()(int64_t offset, int64_t size, float* __restrict block) const {
    const float* own = step.own + (kDecay ? offset : 0);
    const float* gradient = step.gradient + offset;
    float* __restrict velocity = step.velocity + (kMomentum == Momentum::kNone ? 0 : offset);
    const float rate = step.learning_rate;
    const SgdCoefficients sgd{step.gradient_scale, step.weight_decay, step.momentum};
    for (int64_t i = 0; i < size; ++i) {
      block[i] -= rate * SgdUpdate<kMomentum, kDecay>(
                             sgd, gradient[i], kDecay ? own[i] : 0,
                             kMomentum == Momentum::kNone ? nullptr : velocity + i);
    }
  }
};

template <Momentum kMomentum>
void Run(InstructionSet set, std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
         float* out) {
  if (step.weight_decay == 0) {
    using Rule = SgdRule<kMomentum, false>;
    RunKernel<MixKernel<Rule>>(set, mix, Rule{step}, size, out);
  } else {
    using Rule = SgdRule<kMomentum, true>;
    RunKernel<MixKernel<Rule>>(set, mix, Rule{step}, size, out);
  }
}

}  // namespace

void MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size, float* out,
                InstructionSet set) {
  if (step.momentum == 0) return Run<Momentum::kNone>(set, mix, step, size, out);
  if (step.nesterov) return Run<Momentum::kNesterov>(set, mix, step, size, out);
  Run<Momentum::kHeavyBall>(set, mix, step, size, out);
}

}  // namespace grapevine
