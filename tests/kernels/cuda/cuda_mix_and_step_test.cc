// The GPU's passes have the CPU's bits. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/passes/mix_and_step.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaMixAndStepTest = CudaTest;
using CudaWeightedSumTest = CudaTest;

// The same vectors with the same weights on both devices; vector k begins
// shifts[k mod their number] elements past a boundary of 16 bytes on the GPU.
struct Mixture {
  Mixture(size_t count, size_t size, const std::vector<size_t>& shifts) {
    for (size_t k = 0; k < count; ++k) {
      vectors.push_back(Noise(k, size));
      on_device.push_back(
          std::make_unique<OnDevice<float>>(vectors.back(), shifts[k % shifts.size()]));
      const float weight = 1.0f / static_cast<float>(k + 2);
      cpu.push_back({weight, nullptr});
      gpu.push_back({weight, on_device.back()->get()});
    }
    for (size_t k = 0; k < count; ++k) cpu[k].vector = vectors[k].data();
  }

  std::vector<std::vector<float>> vectors;
  std::vector<std::unique_ptr<OnDevice<float>>> on_device;
  std::vector<WeightedVector> cpu, gpu;
};

constexpr size_t kCounts[] = {0, 1, 2, 3, 4, 5, 6, 9, kMaxCudaTerms};
constexpr size_t kSizes[] = {0, 1, 3, 255, 256, 257, 2049, 1'000'003};
// Aligned, aligned alike, aligned differently.
const std::vector<size_t> kShifts[] = {{0}, {1}, {3}, {0, 1, 2}};

TEST_F(CudaWeightedSumTest, HasTheBitsOfTheCpu) {
  for (const size_t count : kCounts) {
    for (const size_t at_most : kSizes) {
      const size_t size = SizeHere(at_most);
      if (count > 9 && size > 3000) continue;
      for (const std::vector<size_t>& shifts : kShifts) {
        SCOPED_TRACE(::testing::Message() << count << " of " << size << " from " << shifts.back());
        Mixture mixture(count, size, shifts);
        std::vector<float> out(size, 42);
        const OnDevice<float> gpu_out(out, shifts[0]);
        ExpectCuda(CudaWeightedSum(mixture.gpu, static_cast<int64_t>(size), gpu_out.get(), nullptr),
                   "sum");
        WeightedSum(mixture.cpu, static_cast<int64_t>(size), out.data());
        EXPECT_EQ(gpu_out.Read(), out);
      }
    }
  }
}

// Every pair of special values; NaN is NaN, whichever.
TEST_F(CudaWeightedSumTest, TreatsSpecialValuesAsTheCpu) {
  constexpr float kSpecial[] = {0,      -0.0f, 1,        -1e-40f,   1e-38f,
                                -3e38f, 3e38f, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (const float x : kSpecial) {
    for (const float y : kSpecial) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const OnDevice<float> gpu_a(a), gpu_b(b);
  for (const float weight : {1.0f, 0.25f, -2.0f}) {
    std::vector<float> out(a.size());
    const OnDevice<float> gpu_out(out);
    const auto size = static_cast<int64_t>(a.size());
    ExpectCuda(CudaWeightedSum(std::vector<WeightedVector>{{weight, gpu_a.get()}, {1, gpu_b.get()}},
                               size, gpu_out.get(), nullptr),
               "sum");
    WeightedSum(std::vector<WeightedVector>{{weight, a.data()}, {1, b.data()}}, size, out.data());
    const std::vector<float> read = gpu_out.Read();
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_TRUE(std::bit_cast<uint32_t>(read[i]) == std::bit_cast<uint32_t>(out[i]) ||
                  (std::isnan(read[i]) && std::isnan(out[i])))
          << weight << " * " << a[i] << " + " << b[i] << ": " << read[i] << " against " << out[i];
    }
  }
}

TEST_F(CudaWeightedSumTest, SumsInPlace) {
  for (const size_t count : {size_t{3}, size_t{9}}) {
    Mixture mixture(count, 5001, {0});
    ExpectCuda(CudaWeightedSum(mixture.gpu, 5001, mixture.on_device[1]->get(), nullptr), "sum");
    WeightedSum(mixture.cpu, 5001, mixture.vectors[1].data());
    EXPECT_EQ(mixture.on_device[1]->Read(), mixture.vectors[1]);
  }
}

TEST(WeightedSumLimitsTest, RefusesMoreVectorsThanItsArgumentsHold) {
  const std::vector<WeightedVector> mix(kMaxCudaTerms + 1);
  EXPECT_EQ(CudaWeightedSum(mix, 4, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(CudaMixAndStep(mix, SgdStep{}, 4, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(CudaMixAndStep(mix, AdamStep{}, 4, nullptr, nullptr), cudaErrorInvalidValue);
}

struct Rule {
  float momentum;
  bool nesterov;
  float weight_decay;
};

// Compares the bits of `out` and of the velocity.
void ExpectBitsOfCpu(size_t count, size_t size, const std::vector<size_t>& shifts,
                     const Rule& rule) {
  SCOPED_TRACE(::testing::Message() << count << " of " << size << " from " << shifts.back()
                                    << ", momentum " << rule.momentum);
  Mixture mixture(count, size, shifts);
  const std::vector<float> own = Noise(999, size), gradient = Noise(1000, size);
  std::vector<float> velocity = Noise(1001, size), out(size);
  const OnDevice<float> gpu_own(own, shifts[0]), gpu_gradient(gradient, shifts[0]),
      gpu_velocity(velocity, shifts.back()), gpu_out(out, shifts[0]);
  SgdStep step{.own = own.data(),
               .gradient = gradient.data(),
               .velocity = velocity.data(),
               .learning_rate = 0.1f,
               .gradient_scale = 0.5f,
               .weight_decay = rule.weight_decay,
               .momentum = rule.momentum,
               .nesterov = rule.nesterov};
  SgdStep gpu_step = step;
  gpu_step.own = rule.weight_decay == 0 ? nullptr : gpu_own.get();
  gpu_step.gradient = gpu_gradient.get();
  gpu_step.velocity = rule.momentum == 0 ? nullptr : gpu_velocity.get();
  ExpectCuda(
      CudaMixAndStep(mixture.gpu, gpu_step, static_cast<int64_t>(size), gpu_out.get(), nullptr),
      "mix");
  MixAndStep(mixture.cpu, step, static_cast<int64_t>(size), out.data());
  EXPECT_EQ(gpu_out.Read(), out);
  EXPECT_EQ(gpu_velocity.Read(), velocity);
}

TEST_F(CudaMixAndStepTest, HasTheBitsOfTheCpu) {
  for (const size_t count : kCounts) {
    for (const size_t at_most : kSizes) {
      const size_t size = SizeHere(at_most);
      if (size > 3000 && count != 3 && count != 6) continue;
      for (const Rule& rule :
           {Rule{0, false, 0}, Rule{0, false, 1e-4f}, Rule{0.9f, false, 0},
            Rule{0.9f, false, 1e-4f}, Rule{0.9f, true, 0}, Rule{0.9f, true, 1e-4f}}) {
        for (const std::vector<size_t>& shifts : kShifts) {
          ExpectBitsOfCpu(count, size, shifts, rule);
        }
      }
    }
  }
}

// The bits of out, of the means and of the squares.
void ExpectAdamsBitsOfCpu(size_t count, size_t size, const std::vector<size_t>& shifts,
                          Decay decay) {
  SCOPED_TRACE(::testing::Message() << count << " of " << size << " from " << shifts.back()
                                    << ", decay " << static_cast<int>(decay));
  Mixture mixture(count, size, shifts);
  const std::vector<float> own = Noise(999, size), gradient = Noise(1000, size);
  std::vector<float> mean = Noise(1001, size), square = Noise(1002, size), out(size);
  for (float& value : square) value *= value;
  const OnDevice<float> gpu_own(own, shifts[0]), gpu_gradient(gradient, shifts[0]),
      gpu_mean(mean, shifts.back()), gpu_square(square, shifts[0]), gpu_out(out, shifts[0]);
  AdamStep step{.own = own.data(),
                .gradient = gradient.data(),
                .mean = mean.data(),
                .square = square.data(),
                .adam = AdamCoefficientsAt(/*step=*/3, 0.9, 0.999, 1e-8),
                .learning_rate = 0.1f};
  step.adam.gradient_scale = 0.5f;
  step.adam.weight_decay = 1e-2f;
  step.adam.decay = decay;
  AdamStep gpu_step = step;
  gpu_step.own = decay == Decay::kNone ? nullptr : gpu_own.get();
  gpu_step.gradient = gpu_gradient.get();
  gpu_step.mean = gpu_mean.get();
  gpu_step.square = gpu_square.get();
  ExpectCuda(
      CudaMixAndStep(mixture.gpu, gpu_step, static_cast<int64_t>(size), gpu_out.get(), nullptr),
      "mix");
  MixAndStep(mixture.cpu, step, static_cast<int64_t>(size), out.data());
  EXPECT_EQ(gpu_out.Read(), out);
  EXPECT_EQ(gpu_mean.Read(), mean);
  EXPECT_EQ(gpu_square.Read(), square);
}

TEST_F(CudaMixAndStepTest, AdamHasTheBitsOfTheCpu) {
  for (const size_t count : {1, 3, 6}) {
    for (const size_t size : {1, 257, 2049, 100'003}) {
      for (const Decay decay : {Decay::kNone, Decay::kGradient, Decay::kUpdate}) {
        for (const std::vector<size_t>& shifts : kShifts) {
          ExpectAdamsBitsOfCpu(count, size, shifts, decay);
        }
      }
    }
  }
}

TEST_F(CudaMixAndStepTest, AdagradHasTheBitsOfTheCpu) {
  for (const float decay : {0.0f, 1e-2f}) {
    for (const size_t size : {1, 2049, 100'003}) {
      Mixture mixture(3, size, {1});
      const std::vector<float> own = Noise(999, size), gradient = Noise(1000, size);
      std::vector<float> sum(size, 0.25f), out(size);
      const OnDevice<float> gpu_own(own, 1), gpu_gradient(gradient, 1), gpu_sum(sum, 1),
          gpu_out(out, 1);
      AdagradStep step{.own = own.data(),
                       .gradient = gradient.data(),
                       .sum = sum.data(),
                       .learning_rate = 0.1f,
                       .gradient_scale = 0.5f,
                       .weight_decay = decay};
      AdagradStep gpu_step = step;
      gpu_step.own = decay == 0 ? nullptr : gpu_own.get();
      gpu_step.gradient = gpu_gradient.get();
      gpu_step.sum = gpu_sum.get();
      ExpectCuda(
          CudaMixAndStep(mixture.gpu, gpu_step, static_cast<int64_t>(size), gpu_out.get(), nullptr),
          "mix");
      MixAndStep(mixture.cpu, step, static_cast<int64_t>(size), out.data());
      EXPECT_EQ(gpu_out.Read(), out) << size;
      EXPECT_EQ(gpu_sum.Read(), sum) << size;
    }
  }
}

TEST_F(CudaMixAndStepTest, OutMayBeATermAndOwn) {
  Mixture mixture(3, 5001, {0});
  const std::vector<float> gradient = Noise(1000, 5001);
  std::vector<float> velocity = Noise(1001, 5001);
  const OnDevice<float> gpu_gradient(gradient), gpu_velocity(velocity);
  SgdStep step{.own = mixture.vectors[0].data(),
               .gradient = gradient.data(),
               .velocity = velocity.data(),
               .learning_rate = 0.1f,
               .weight_decay = 1e-4f,
               .momentum = 0.9f};
  SgdStep gpu_step = step;
  float* const gpu_own = mixture.on_device[0]->get();
  gpu_step.own = gpu_own;
  gpu_step.gradient = gpu_gradient.get();
  gpu_step.velocity = gpu_velocity.get();
  ExpectCuda(CudaMixAndStep(mixture.gpu, gpu_step, 5001, gpu_own, nullptr), "mix");
  MixAndStep(mixture.cpu, step, 5001, mixture.vectors[0].data());
  EXPECT_EQ(mixture.on_device[0]->Read(), mixture.vectors[0]);
  EXPECT_EQ(gpu_velocity.Read(), velocity);
}

}  // namespace
}  // namespace grapevine
