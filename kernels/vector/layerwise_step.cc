#include "kernels/vector/layerwise_step.h"

#include <algorithm>
#include <iterator>

#include "kernels/passes/block_sum.h"
#include "kernels/passes/ordered_sum.h"

namespace grapevine {
namespace {

std::vector<TensorSpan> Parameters(const ReplicaLayout& layout, bool adapted) {
  std::vector<TensorView> tensors;
  std::ranges::copy_if(layout.parameters, std::back_inserter(tensors),
                       [&](const TensorView& tensor) { return IsAdapted(tensor) == adapted; });
  return TensorSpans(tensors);
}

// Updates a tensor's moments and computes the squared norm of u, chunk by chunk: the moments of a
// chunk are still in the cache when its norm is computed.
struct MomentsKernel {
  struct SquaredUpdate {
    const LambStep& step;

    GRAPEVINE_ELEMENTWISE double operator()(int64_t i) const {
      return Square(
          AdamUpdate<Decay::kUpdate>(step.adam, step.mean[i], step.square[i], step.own[i]));
    }
  };

  struct UpdateAndSum {
    const LambStep& step;

    GRAPEVINE_INLINE double operator()(int64_t begin, int64_t end) const {
      const float* gradient = step.gradient;
      float* __restrict mean = step.mean;
      float* __restrict square = step.square;
      const AdamCoefficients adam = step.adam;
      for (int64_t i = begin; i < end; ++i) {
        AdamMoments<Decay::kNone>(adam, gradient[i], 0, mean + i, square + i);
      }
      return ChunkSum(begin, end, SquaredUpdate{step});
    }
  };

  GRAPEVINE_INLINE static void Run(const LambStep& step, int64_t size, double* norm) {
    *norm = SumOfChunks(size, UpdateAndSum{step});
  }
};

// block <- block - rate * u.
struct UpdateRule {
  const LambStep& step;
  float rate;

  GRAPEVINE_INLINE void operator()(int64_t offset, int64_t size, float* __restrict block) const {
    const float* own = step.own + offset;
    const float* mean = step.mean + offset;
    const float* square = step.square + offset;
    const AdamCoefficients adam = step.adam;
    for (int64_t i = 0; i < size; ++i) {
      block[i] -= rate * AdamUpdate<Decay::kUpdate>(adam, mean[i], square[i], own[i]);
    }
  }
};

void StepAdapted(std::span<const WeightedVector> mix, const LarsStep& step, int64_t size,
                 float* out, InstructionSet set) {
  const LarsFactors factors = LarsFactorsOf(step.rates, SquaredNorm(step.own, size, set),
                                            SquaredNorm(step.gradient, size, set));
  MixAndStep(mix, WithFactors(step, factors), size, out, set);
}

void StepAdapted(std::span<const WeightedVector> mix, const LambStep& step, int64_t size,
                 float* out, InstructionSet set) {
  double norm;
  RunKernel<MomentsKernel>(set, step, size, &norm);
  const float rate = LambRate(step.learning_rate, SquaredNorm(step.own, size, set), norm);
  RunKernel<MixKernel<UpdateRule>>(set, mix, UpdateRule{step, rate}, size, out);
}

template <typename Step>
void StepTensors(std::span<const WeightedVector> mix, const Layerwise<Step>& layerwise, float* out,
                 InstructionSet set) {
  for (const TensorSpan& tensor : layerwise.tensors.plain) {
    MixAndStep(From(mix, tensor.offset), Plain(From(layerwise.step, tensor.offset)), tensor.size,
               out + tensor.offset, set);
  }
  for (const TensorSpan& tensor : layerwise.tensors.adapted) {
    StepAdapted(From(mix, tensor.offset), From(layerwise.step, tensor.offset), tensor.size,
                out + tensor.offset, set);
  }
}

}  // namespace

LayerwiseTensors LayerwiseTensorsOf(const ReplicaLayout& layout) {
  return {.adapted = Parameters(layout, true), .plain = Parameters(layout, false)};
}

int64_t LayerwiseScratch(const LayerwiseTensors& tensors) {
  const auto count = static_cast<int64_t>(tensors.adapted.size());
  return 2 * (3 * count + TotalChunks(tensors.adapted));
}

std::vector<WeightedVector> From(std::span<const WeightedVector> mix, int64_t offset) {
  std::vector<WeightedVector> from(mix.begin(), mix.end());
  for (WeightedVector& term : from) term.vector += offset;
  return from;
}

LarsStep From(const LarsStep& step, int64_t offset) {
  LarsStep from = step;
  from.own += offset;
  from.gradient += offset;
  if (step.momentum != 0) from.velocity += offset;
  return from;
}

LambStep From(const LambStep& step, int64_t offset) {
  LambStep from = step;
  from.own += offset;
  from.gradient += offset;
  from.mean += offset;
  from.square += offset;
  return from;
}

SgdStep WithFactors(const LarsStep& step, const LarsFactors& factors) {
  return {.own = step.own,
          .gradient = step.gradient,
          .velocity = step.velocity,
          .learning_rate = step.applied,
          .gradient_scale = factors.gradient,
          .weight_decay = factors.own,
          .momentum = step.momentum};
}

SgdStep Plain(const LarsStep& step) {
  LarsRates rates = step.rates;
  rates.weight_decay = 0;
  return WithFactors(step, FactorsOf(rates, 1));
}

AdamStep Plain(const LambStep& step) {
  AdamStep plain{.gradient = step.gradient,
                 .mean = step.mean,
                 .square = step.square,
                 .adam = step.adam,
                 .learning_rate = static_cast<float>(step.learning_rate)};
  plain.adam.decay = Decay::kNone;
  return plain;
}

void MixAndStep(std::span<const WeightedVector> mix, const Layerwise<LarsStep>& layerwise, int64_t,
                float* out, InstructionSet set) {
  StepTensors(mix, layerwise, out, set);
}

void MixAndStep(std::span<const WeightedVector> mix, const Layerwise<LambStep>& layerwise, int64_t,
                float* out, InstructionSet set) {
  StepTensors(mix, layerwise, out, set);
}

}  // namespace grapevine
