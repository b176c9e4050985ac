#include <cuda_runtime.h>

#include <algorithm>
#include <initializer_list>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/cuda/mix_pass.h"
#include "kernels/cuda/norm_pass.h"

namespace grapevine {
namespace {

constexpr int kStepThreads = 128;

unsigned BlocksFor(int64_t work) {
  return static_cast<unsigned>((work + kStepThreads - 1) / kStepThreads);
}

// The scratch memory of a step.
struct Scratch {
  double* own;    // squared norms of own, one per tensor
  double* other;  // squared norms of the gradient or the update, one per tensor
  double* sums;   // sums of squares, one per chunk
  void* factors;  // 8 bytes per tensor
};

Scratch InMemory(float* scratch, const LayerwiseTensors& tensors) {
  auto* const doubles = reinterpret_cast<double*>(scratch);
  const auto count = static_cast<int64_t>(tensors.adapted.size());
  return {.own = doubles,
          .other = doubles + count,
          .sums = doubles + 3 * count,
          .factors = doubles + 2 * count};
}

__global__ void LarsFactorsKernel(LarsRates rates, const double* own, const double* gradient,
                                  int count, LarsFactors* factors) {
  const int t = static_cast<int>(blockIdx.x * kStepThreads + threadIdx.x);
  if (t < count) factors[t] = LarsFactorsOf(rates, own[t], gradient[t]);
}

__global__ void LambRatesKernel(double learning_rate, const double* own, const double* update,
                                int count, float* tensor_rates) {
  const int t = static_cast<int>(blockIdx.x * kStepThreads + threadIdx.x);
  if (t < count) tensor_rates[t] = LambRate(learning_rate, own[t], update[t]);
}

// out <- sum - step.applied * m, with a tensor's factors in device memory. Decay is a run-time
// test, which all threads decide alike. It is the CPU's test, so that the bits agree.
template <bool kMomentum>
struct LarsPass {
  LarsStep step;
  const LarsFactors* factors;

  template <int kWidth>
  struct Streams {
    Pack<kWidth> gradient, own, velocity;
  };

  template <int kWidth>
  __device__ __forceinline__ void Load(int64_t i, Streams<kWidth>* streams) const {
    streams->gradient = LoadPack<kWidth>(step.gradient + i);
    streams->own = LoadPack<kWidth>(step.own + i);
    if constexpr (kMomentum) streams->velocity = LoadPack<kWidth>(step.velocity + i);
  }

  template <int kWidth>
  __device__ __forceinline__ Pack<kWidth> Apply(const Pack<kWidth>& sum, int64_t i,
                                                Streams<kWidth>& streams) const {
    const SgdCoefficients sgd{factors->gradient, factors->own, step.momentum};
    const Pack<kWidth> result = sgd.weight_decay != 0
                                    ? Moved<true>(sgd, step.applied, sum, &streams)
                                    : Moved<false>(sgd, step.applied, sum, &streams);
    if constexpr (kMomentum) StorePack(streams.velocity, step.velocity + i);
    return result;
  }

 private:
  template <bool kDecay, int kWidth>
  __device__ __forceinline__ static Pack<kWidth> Moved(const SgdCoefficients& sgd, float rate,
                                                       Pack<kWidth> sum, Streams<kWidth>* streams) {
    constexpr Momentum kRule = kMomentum ? Momentum::kHeavyBall : Momentum::kNone;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      sum.lane[j] -=
          rate * SgdUpdate<kRule, kDecay>(sgd, streams->gradient.lane[j], streams->own.lane[j],
                                          &streams->velocity.lane[j]);
    }
    return sum;
  }
};

// out <- sum - rate * u, with a tensor's rate in device memory.
struct UpdatePass {
  LambStep step;
  const float* rate;

  template <int kWidth>
  struct Streams {
    Pack<kWidth> own, mean, square;
  };

  template <int kWidth>
  __device__ __forceinline__ void Load(int64_t i, Streams<kWidth>* streams) const {
    streams->own = LoadPack<kWidth>(step.own + i);
    streams->mean = LoadPack<kWidth>(step.mean + i);
    streams->square = LoadPack<kWidth>(step.square + i);
  }

  template <int kWidth>
  __device__ __forceinline__ Pack<kWidth> Apply(Pack<kWidth> sum, int64_t,
                                                Streams<kWidth>& streams) const {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      sum.lane[j] -=
          *rate * AdamUpdate<Decay::kUpdate>(step.adam, streams.mean.lane[j],
                                             streams.square.lane[j], streams.own.lane[j]);
    }
    return sum;
  }
};

__global__ void __launch_bounds__(kStepThreads) MomentsKernel(LambStep step, int64_t size) {
  const int64_t i = int64_t{blockIdx.x} * kStepThreads + threadIdx.x;
  if (i < size) {
    AdamMoments<Decay::kNone>(step.adam, step.gradient[i], 0, step.mean + i, step.square + i);
  }
}

// A source that gives the elements of u.
struct UpdateSource {
  static constexpr int kBatch = 4;
  LambStep step;

  __device__ __forceinline__ bool Aligned(int64_t i) const {
    return (reinterpret_cast<uintptr_t>(step.own + i) | reinterpret_cast<uintptr_t>(step.mean + i) |
            reinterpret_cast<uintptr_t>(step.square + i)) %
               16 ==
           0;
  }
  __device__ __forceinline__ float One(int64_t i) const {
    return AdamUpdate<Decay::kUpdate>(step.adam, step.mean[i], step.square[i], step.own[i]);
  }
  __device__ __forceinline__ Four FourAt(int64_t i) const {
    const Four own = LoadFour(step.own + i), mean = LoadFour(step.mean + i),
               square = LoadFour(step.square + i);
    Four update;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      update.lane[j] =
          AdamUpdate<Decay::kUpdate>(step.adam, mean.lane[j], square.lane[j], own.lane[j]);
    }
    return update;
  }
};

cudaError_t StepTensor(std::span<const WeightedVector> mix, const LarsStep& step,
                       const LarsFactors* factors, int64_t size, float* out, cudaStream_t stream) {
  if (step.momentum == 0) {
    return Mix(mix, LarsPass<false>{step, factors}, {step.gradient, step.own}, size, out, stream);
  }
  return Mix(mix, LarsPass<true>{step, factors}, {step.gradient, step.own, step.velocity}, size,
             out, stream);
}

cudaError_t StepTensor(std::span<const WeightedVector> mix, const LambStep& step, const float* rate,
                       int64_t size, float* out, cudaStream_t stream) {
  return Mix(mix, UpdatePass{step, rate}, {step.own, step.mean, step.square}, size, out, stream);
}

cudaError_t FirstError(std::initializer_list<cudaError_t> errors) {
  const auto* const error =
      std::find_if(errors.begin(), errors.end(), [](cudaError_t e) { return e != cudaSuccess; });
  return error == errors.end() ? cudaSuccess : *error;
}

// Takes the step of every tensor. The adapted tensors take theirs with factors[t], in device
// memory.
template <typename Step, typename Factors>
cudaError_t StepTensors(std::span<const WeightedVector> mix, const Step& step,
                        const LayerwiseTensors& tensors, const Factors* factors, float* out,
                        cudaStream_t stream) {
  for (const TensorSpan& tensor : tensors.plain) {
    const cudaError_t error =
        CudaMixAndStep(From(mix, tensor.offset), Plain(From(step, tensor.offset)), tensor.size,
                       out + tensor.offset, stream);
    if (error != cudaSuccess) return error;
  }
  for (const TensorSpan& tensor : tensors.adapted) {
    const cudaError_t error = StepTensor(From(mix, tensor.offset), From(step, tensor.offset),
                                         factors++, tensor.size, out + tensor.offset, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LarsStep>& layerwise, int64_t, float* out,
                           cudaStream_t stream) {
  const auto& [step, tensors, scratch] = layerwise;
  if (mix.size() > kMaxCudaTerms) return cudaErrorInvalidValue;
  const Scratch memory = InMemory(scratch, tensors);
  auto* const factors = static_cast<LarsFactors*>(memory.factors);
  const int count = static_cast<int>(tensors.adapted.size());
  if (count > 0) {
    const cudaError_t error = FirstError(
        {CudaTensorSquaredNorms(step.own, tensors.adapted, memory.own, memory.sums, stream),
         CudaTensorSquaredNorms(step.gradient, tensors.adapted, memory.other, memory.sums,
                                stream)});
    if (error != cudaSuccess) return error;
    LarsFactorsKernel<<<BlocksFor(count), kStepThreads, 0, stream>>>(step.rates, memory.own,
                                                                     memory.other, count, factors);
  }
  return StepTensors(mix, step, tensors, factors, out, stream);
}

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LambStep>& layerwise, int64_t, float* out,
                           cudaStream_t stream) {
  const auto& [step, tensors, scratch] = layerwise;
  if (mix.size() > kMaxCudaTerms) return cudaErrorInvalidValue;
  const Scratch memory = InMemory(scratch, tensors);
  auto* const rates = static_cast<float*>(memory.factors);
  const int count = static_cast<int>(tensors.adapted.size());
  for (const TensorSpan& tensor : tensors.adapted) {
    MomentsKernel<<<BlocksFor(tensor.size), kStepThreads, 0, stream>>>(From(step, tensor.offset),
                                                                       tensor.size);
  }
  if (count > 0) {
    const cudaError_t error = FirstError(
        {CudaTensorSquaredNorms(step.own, tensors.adapted, memory.own, memory.sums, stream),
         SquaredNorms(UpdateSource{step}, tensors.adapted, memory.other, memory.sums, stream)});
    if (error != cudaSuccess) return error;
    LambRatesKernel<<<BlocksFor(count), kStepThreads, 0, stream>>>(step.learning_rate, memory.own,
                                                                   memory.other, count, rates);
  }
  return StepTensors(mix, step, tensors, rates, out, stream);
}

}  // namespace grapevine
