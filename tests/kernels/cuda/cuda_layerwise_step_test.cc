// LARS and LAMB have the CPU's bits on a GPU. Skips where there is no GPU.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/vector/layerwise_step.h"
#include "kernels/vector/replica_layout.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaLayerwiseStepTest = CudaTest;

// Aligned tensors and others, of less than a chunk and of several, and some without a ratio.
ReplicaLayout Layout() {
  ReplicaLayout layout;
  layout.AddParameter("conv.weight", {4, 16, 3, 3});
  layout.AddParameter("conv.bias", {5});
  layout.AddParameter("wide.weight", {70, 181});
  layout.AddParameter("bn.weight", {3});
  layout.AddParameter("zero.weight", {8, 8});
  layout.AddParameter("fc.weight", {64, 128});
  return layout;
}

// The vectors of a step on both devices.
struct Vectors {
  explicit Vectors(const ReplicaLayout& layout) : size(static_cast<size_t>(layout.size)) {
    for (float& value : square) value *= value;
    const TensorView& zero = layout.parameters[4];
    std::fill_n(own.begin() + zero.offset, zero.size, 0.0f);
  }

  size_t size;
  std::vector<float> own = Noise(1, size), other = Noise(2, size), gradient = Noise(3, size),
                     mean = Noise(4, size), square = Noise(5, size), out = std::vector<float>(size);
};

// More tensors than one launch takes.
ReplicaLayout ManyTensors() {
  ReplicaLayout layout;
  for (int t = 0; t < 300; ++t) layout.AddParameter("weight", {t % 7 + 1, 5});
  return layout;
}

void ExpectLarsBitsOfCpu(const ReplicaLayout& layout, float momentum, double weight_decay,
                         float applied = 1) {
  Vectors v(layout);
  const LayerwiseTensors tensors = LayerwiseTensorsOf(layout);
  const OnDevice<float> own(v.own), other(v.other), gradient(v.gradient), velocity(v.mean),
      out(v.out), scratch(std::vector<float>(LayerwiseScratch(tensors)));
  Layerwise<LarsStep> step{
      .step = {.own = v.own.data(),
               .gradient = v.gradient.data(),
               .velocity = v.mean.data(),
               .momentum = momentum,
               .rates = {.learning_rate = 3, .gradient_scale = 0.3, .weight_decay = weight_decay},
               .applied = applied},
      .tensors = tensors};
  Layerwise<LarsStep> gpu_step = step;
  gpu_step.step.own = own.get();
  gpu_step.step.gradient = gradient.get();
  gpu_step.step.velocity = velocity.get();
  gpu_step.scratch = scratch.get();
  const std::vector<WeightedVector> gpu_mix = {{0.75f, own.get()}, {0.25f, other.get()}};
  ExpectCuda(CudaMixAndStep(gpu_mix, gpu_step, layout.size, out.get(), nullptr), "lars");
  const std::vector<WeightedVector> mix = {{0.75f, v.own.data()}, {0.25f, v.other.data()}};
  MixAndStep(mix, step, layout.size, v.out.data());
  EXPECT_EQ(out.Read(), v.out);
  EXPECT_EQ(velocity.Read(), v.mean);
}

TEST_F(CudaLayerwiseStepTest, LarsHasTheBitsOfTheCpu) {
  for (const float momentum : {0.0f, 0.9f}) {
    for (const double weight_decay : {0.0, 1e-2}) {
      SCOPED_TRACE(::testing::Message() << "momentum " << momentum << " decay " << weight_decay);
      ExpectLarsBitsOfCpu(Layout(), momentum, weight_decay);
      ExpectLarsBitsOfCpu(Layout(), momentum, weight_decay, /*applied=*/0.3f);
    }
  }
  ExpectLarsBitsOfCpu(ManyTensors(), /*momentum=*/0.9f, /*weight_decay=*/1e-2);
}

void ExpectLambBitsOfCpu(const ReplicaLayout& layout, float weight_decay) {
  Vectors v(layout);
  const LayerwiseTensors tensors = LayerwiseTensorsOf(layout);
  const OnDevice<float> own(v.own), other(v.other), gradient(v.gradient), mean(v.mean),
      square(v.square), out(v.out), scratch(std::vector<float>(LayerwiseScratch(tensors)));
  Layerwise<LambStep> step{.step = {.own = v.own.data(),
                                    .gradient = v.gradient.data(),
                                    .mean = v.mean.data(),
                                    .square = v.square.data(),
                                    .adam = AdamCoefficientsAt(/*step=*/4, 0.9, 0.999, 1e-6),
                                    .learning_rate = 0.02},
                           .tensors = tensors};
  step.step.adam.gradient_scale = 0.3f;
  step.step.adam.decay = Decay::kUpdate;
  step.step.adam.weight_decay = weight_decay;
  Layerwise<LambStep> gpu_step = step;
  gpu_step.step.own = own.get();
  gpu_step.step.gradient = gradient.get();
  gpu_step.step.mean = mean.get();
  gpu_step.step.square = square.get();
  gpu_step.scratch = scratch.get();
  const std::vector<WeightedVector> gpu_mix = {{0.75f, own.get()}, {0.25f, other.get()}};
  ExpectCuda(CudaMixAndStep(gpu_mix, gpu_step, layout.size, out.get(), nullptr), "lamb");
  const std::vector<WeightedVector> mix = {{0.75f, v.own.data()}, {0.25f, v.other.data()}};
  MixAndStep(mix, step, layout.size, v.out.data());
  EXPECT_EQ(out.Read(), v.out);
  EXPECT_EQ(mean.Read(), v.mean);
  EXPECT_EQ(square.Read(), v.square);
}

TEST_F(CudaLayerwiseStepTest, LambHasTheBitsOfTheCpu) {
  for (const float weight_decay : {0.0f, 1e-2f}) {
    SCOPED_TRACE(::testing::Message() << "decay " << weight_decay);
    ExpectLambBitsOfCpu(Layout(), weight_decay);
  }
  ExpectLambBitsOfCpu(ManyTensors(), /*weight_decay=*/1e-2f);
}

TEST(LayerwiseStepLimitsTest, RefusesMoreVectorsThanItsArgumentsHold) {
  const std::vector<WeightedVector> mix(kMaxCudaTerms + 1);
  EXPECT_EQ(CudaMixAndStep(mix, Layerwise<LarsStep>{}, 4, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(CudaMixAndStep(mix, Layerwise<LambStep>{}, 4, nullptr, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace grapevine
