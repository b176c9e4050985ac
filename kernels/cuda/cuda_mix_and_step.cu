#include <algorithm>

#include "kernels/cuda/cuda_mix_and_step.h"
#include "kernels/sgd_update.h"

namespace grapevine {
namespace {

constexpr int kThreads = 256;
constexpr int kVector = 4;  // floats in an access of 16 bytes

struct Mix {
  int count;
  const float* vectors[kMostCudaTerms];
  float weights[kMostCudaTerms];
};

// At once what four neighbouring elements need.
template <Momentum kMomentum, bool kDecay>
__device__ inline float4 StepFour(float4 sum, const SgdCoefficients& sgd, float rate, float4 gradient,
                                  float4 own, float4* velocity) {
  sum.x -= rate * SgdUpdate<kMomentum, kDecay>(sgd, gradient.x, own.x, &velocity->x);
  sum.y -= rate * SgdUpdate<kMomentum, kDecay>(sgd, gradient.y, own.y, &velocity->y);
  sum.z -= rate * SgdUpdate<kMomentum, kDecay>(sgd, gradient.z, own.z, &velocity->z);
  sum.w -= rate * SgdUpdate<kMomentum, kDecay>(sgd, gradient.w, own.w, &velocity->w);
  return sum;
}

__device__ inline const float4* Four(const float* vector) {
  return reinterpret_cast<const float4*>(vector);
}
__device__ inline float4* Four(float* vector) { return reinterpret_cast<float4*>(vector); }

__device__ inline float4 SumFour(const Mix& mix, int64_t i) {
  float4 sum = {0, 0, 0, 0};
  for (int k = 0; k < mix.count; ++k) {
    const float4 v = Four(mix.vectors[k])[i];
    const float w = mix.weights[k];
    // The first product begins the sum, as on the CPU: -0 stays -0.
    sum.x = k == 0 ? w * v.x : sum.x + w * v.x;
    sum.y = k == 0 ? w * v.y : sum.y + w * v.y;
    sum.z = k == 0 ? w * v.z : sum.z + w * v.z;
    sum.w = k == 0 ? w * v.w : sum.w + w * v.w;
  }
  return sum;
}

__device__ inline float SumOne(const Mix& mix, int64_t i) {
  float sum = mix.count > 0 ? mix.weights[0] * mix.vectors[0][i] : 0;
  for (int k = 1; k < mix.count; ++k) sum += mix.weights[k] * mix.vectors[k][i];
  return sum;
}

template <Momentum kMomentum, bool kDecay>
__global__ void MixAndStepKernel(Mix mix, SgdStep step, int64_t size, float* out) {
  const SgdCoefficients sgd{step.gradient_scale, step.weight_decay, step.momentum};
  const int64_t first = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  const int64_t fours = size / kVector;
  for (int64_t i = first; i < fours; i += stride) {
    float4 velocity = {0, 0, 0, 0};
    if constexpr (kMomentum != Momentum::kNone) velocity = Four(step.velocity)[i];
    float4 own = {0, 0, 0, 0};
    if constexpr (kDecay) own = Four(step.own)[i];
    const float4 result = StepFour<kMomentum, kDecay>(SumFour(mix, i), sgd, step.learning_rate,
                                                      Four(step.gradient)[i], own, &velocity);
    if constexpr (kMomentum != Momentum::kNone) Four(step.velocity)[i] = velocity;
    Four(out)[i] = result;
  }
  for (int64_t i = fours * kVector + first; i < size; i += stride) {
    float* const velocity = kMomentum == Momentum::kNone ? nullptr : step.velocity + i;
    const float own = kDecay ? step.own[i] : 0;
    const float update =
        SgdUpdate<kMomentum, kDecay>(sgd, step.gradient[i], own, velocity);
    out[i] = SumOne(mix, i) - step.learning_rate * update;
  }
}

template <Momentum kMomentum>
cudaError_t Launch(const Mix& mix, const SgdStep& step, int64_t size, float* out,
                   cudaStream_t stream) {
  // As many blocks as there is work for; enough to fill any GPU, whatever the size.
  constexpr int64_t kMostBlocks = 4096;
  const int64_t wanted = (size / kVector + kThreads) / kThreads;
  const auto blocks = static_cast<unsigned>(std::min(wanted, kMostBlocks));
  if (step.weight_decay == 0) {
    MixAndStepKernel<kMomentum, false><<<blocks, kThreads, 0, stream>>>(mix, step, size, out);
  } else {
    MixAndStepKernel<kMomentum, true><<<blocks, kThreads, 0, stream>>>(mix, step, size, out);
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                           float* out, cudaStream_t stream) {
  if (mix.size() > kMostCudaTerms) return cudaErrorInvalidValue;
  if (size == 0) return cudaSuccess;
  Mix terms;
  terms.count = static_cast<int>(mix.size());
  for (size_t k = 0; k < mix.size(); ++k) {
    terms.vectors[k] = mix[k].vector;
    terms.weights[k] = mix[k].weight;
  }
  if (step.momentum == 0) return Launch<Momentum::kNone>(terms, step, size, out, stream);
  if (step.nesterov) return Launch<Momentum::kNesterov>(terms, step, size, out, stream);
  return Launch<Momentum::kHeavyBall>(terms, step, size, out, stream);
}

}  // namespace grapevine
