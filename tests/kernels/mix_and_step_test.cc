#include "kernels/passes/mix_and_step.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/mix_and_step_reference.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr uint64_t kSeed = 17;

std::vector<float> NoiseOf(uint64_t stream, int64_t size) {
  KeyedRandom random(kSeed, Purpose::kGradientNoise, stream);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void ExpectSameBits(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(Bits(actual[i]), Bits(expected[i]))
        << "element " << i << ": " << actual[i] << " against " << expected[i];
  }
}

// k vectors of noise with weights that do not sum exactly to one.
class Mixture {
 public:
  Mixture(int k, int64_t size) {
    for (int i = 0; i < k; ++i) vectors_.push_back(NoiseOf(100 + i, size));
    for (int i = 0; i < k; ++i) {
      terms_.push_back({static_cast<float>((0.7 + 0.1 * i) / k), vectors_[i].data()});
    }
  }
  std::vector<float>& vector(int i) { return vectors_[i]; }
  const std::vector<WeightedVector>& terms() const { return terms_; }

 private:
  std::vector<std::vector<float>> vectors_;
  std::vector<WeightedVector> terms_;
};

// Sizes around the block (128), a cache line, and one that is stored past the cache.
constexpr int64_t kSizes[] = {0, 1, 15, 16, 17, 127, 128, 129, 1000, 4099};
constexpr int64_t kLarge = (int64_t{1} << 20) + 37;

class MixAndStepTest : public ::testing::TestWithParam<InstructionSet> {};

TEST_P(MixAndStepTest, WeightedSumHasTheBitsOfThePlainSum) {
  for (int k : {0, 1, 2, 3, 4, 5, 8, 9, 40}) {
    for (int64_t size : kSizes) {
      SCOPED_TRACE("k " + std::to_string(k) + " size " + std::to_string(size));
      Mixture mixture(k, size);
      std::vector<float> expected(size), out(size, NAN);
      for (int64_t i = 0; i < size; ++i) expected[i] = ReferenceSum<float>(mixture.terms(), i);
      WeightedSum(mixture.terms(), size, out.data(), GetParam());
      ExpectSameBits(out, expected);
    }
  }
}

TEST_P(MixAndStepTest, AWeightOfOneCopiesBits) {
  const std::vector<float> source = {-0.0f, 0.0f, 1e-45f, -3.5f, INFINITY};
  std::vector<float> out(source.size(), NAN);
  WeightedSum(std::vector<WeightedVector>{{1, source.data()}}, static_cast<int64_t>(source.size()),
              out.data(), GetParam());
  ExpectSameBits(out, source);
}

TEST_P(MixAndStepTest, NeverWritesPastTheEnds) {
  constexpr int64_t kGuard = 64;
  for (int64_t size : {int64_t{129}, kLarge}) {
    for (int64_t shift : {0, 1, 3, 4, 15}) {
      SCOPED_TRACE("size " + std::to_string(size) + " shift " + std::to_string(shift));
      Mixture mixture(3, size);
      std::vector<float> out(size + 2 * kGuard, 42);
      WeightedSum(mixture.terms(), size, out.data() + kGuard - shift, GetParam());
      for (int64_t i = 0; i < kGuard - shift; ++i) ASSERT_EQ(out[i], 42) << i;
      for (size_t i = size + kGuard - shift; i < out.size(); ++i) ASSERT_EQ(out[i], 42) << i;
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_EQ(Bits(out[i + kGuard - shift]), Bits(ReferenceSum<float>(mixture.terms(), i)));
      }
    }
  }
}

TEST_P(MixAndStepTest, SumsInPlace) {
  for (int64_t size : {int64_t{1000}, kLarge}) {
    for (int alias : {0, 1, 4}) {
      Mixture mixture(5, size);
      std::vector<float> expected(size);
      for (int64_t i = 0; i < size; ++i) expected[i] = ReferenceSum<float>(mixture.terms(), i);
      WeightedSum(mixture.terms(), size, mixture.vector(alias).data(), GetParam());
      ExpectSameBits(mixture.vector(alias), expected);
    }
  }
}

// One fused step and its reference, over fresh copies of the same inputs.
struct Fixture {
  Fixture(int k, int64_t size, SgdStep options)
      : mixture(k, size),
        own(NoiseOf(1, size)),
        gradient(NoiseOf(2, size)),
        velocity(NoiseOf(3, size)),
        step(options) {
    step.own = own.data();
    step.gradient = gradient.data();
    step.velocity = velocity.data();
    expected_velocity = velocity;
    for (int64_t i = 0; i < size; ++i) {
      expected.push_back(
          ReferenceMixAndStep<float>(mixture.terms(), step, i, &expected_velocity[i]));
    }
  }

  Mixture mixture;
  std::vector<float> own, gradient, velocity;
  SgdStep step;
  std::vector<float> expected, expected_velocity;
};

std::vector<SgdStep> Rules() {
  std::vector<SgdStep> rules;
  for (float momentum : {0.0f, 0.9f}) {
    for (float decay : {0.0f, 5e-4f}) {
      for (bool nesterov : {false, true}) {
        rules.push_back({.learning_rate = 0.05f,
                         .gradient_scale = 0.125f,
                         .weight_decay = decay,
                         .momentum = momentum,
                         .nesterov = nesterov});
      }
    }
  }
  return rules;
}

TEST_P(MixAndStepTest, HasTheBitsOfThePlainStep) {
  for (const SgdStep& rule : Rules()) {
    for (int k : {0, 1, 2, 5, 40}) {
      for (int64_t size : kSizes) {
        SCOPED_TRACE("k " + std::to_string(k) + " size " + std::to_string(size));
        Fixture f(k, size, rule);
        std::vector<float> out(size, NAN);
        MixAndStep(f.mixture.terms(), f.step, size, out.data(), GetParam());
        ExpectSameBits(out, f.expected);
        ExpectSameBits(f.velocity, f.expected_velocity);
      }
    }
  }
}

TEST_P(MixAndStepTest, OutMayBeATermOrOwnOrTheGradient) {
  for (const SgdStep& rule : Rules()) {
    for (int64_t size : {int64_t{129}, int64_t{1000}}) {
      Fixture term(3, size, rule);
      MixAndStep(term.mixture.terms(), term.step, size, term.mixture.vector(1).data(), GetParam());
      ExpectSameBits(term.mixture.vector(1), term.expected);
      Fixture own(3, size, rule);
      MixAndStep(own.mixture.terms(), own.step, size, own.own.data(), GetParam());
      ExpectSameBits(own.own, own.expected);
      Fixture gradient(3, size, rule);
      MixAndStep(gradient.mixture.terms(), gradient.step, size, gradient.gradient.data(),
                 GetParam());
      ExpectSameBits(gradient.gradient, gradient.expected);
    }
  }
}

TEST_P(MixAndStepTest, StoresPastTheCacheOnAnyAlignment) {
  for (int64_t shift : {0, 1, 4, 7}) {
    Fixture f(3, kLarge, {.learning_rate = 0.1f, .weight_decay = 1e-3f, .momentum = 0.9f});
    std::vector<float> out(kLarge + shift, NAN);
    MixAndStep(f.mixture.terms(), f.step, kLarge, out.data() + shift, GetParam());
    ExpectSameBits(std::vector<float>(out.begin() + shift, out.end()), f.expected);
  }
}

TEST_P(MixAndStepTest, WithoutMomentumTheVelocityIsNotTouched) {
  Fixture f(2, 1000, {.learning_rate = 0.1f});
  f.step.velocity = nullptr;
  f.step.own = nullptr;  // no weight decay either
  std::vector<float> out(1000, NAN);
  MixAndStep(f.mixture.terms(), f.step, 1000, out.data(), GetParam());
  ExpectSameBits(out, f.expected);
}

TEST_P(MixAndStepTest, StaysCloseToDoublePrecision) {
  constexpr int64_t kSize = 4099;
  Fixture f(40, kSize, {.learning_rate = 0.05f, .weight_decay = 5e-4f, .momentum = 0.9f});
  const std::vector<float> old_velocity = f.velocity;
  std::vector<float> out(kSize);
  MixAndStep(f.mixture.terms(), f.step, kSize, out.data(), GetParam());
  for (int64_t i = 0; i < kSize; ++i) {
    double velocity = old_velocity[i];
    const double exact = ReferenceMixAndStep<double>(f.mixture.terms(), f.step, i, &velocity);
    ASSERT_NEAR(out[i], exact, 1e-5) << i;
    ASSERT_NEAR(f.velocity[i], velocity, 1e-6) << i;
  }
}

// A step of Adam and its reference, over fresh copies of the same inputs. Squares are not negative.
struct AdamFixture {
  AdamFixture(int k, int64_t size, Decay decay)
      : mixture(k, size),
        own(NoiseOf(1, size)),
        gradient(NoiseOf(2, size)),
        mean(NoiseOf(3, size)),
        square(NoiseOf(4, size)) {
    for (float& value : square) value *= value;
    step = {.own = decay == Decay::kNone ? nullptr : own.data(),
            .gradient = gradient.data(),
            .mean = mean.data(),
            .square = square.data(),
            .adam = AdamCoefficientsAt(/*step=*/6, 0.9, 0.99, 1e-6),
            .learning_rate = 0.05f};
    step.adam.gradient_scale = 0.125f;
    step.adam.decay = decay;
    step.adam.weight_decay = 0.01f;
    expected_mean = mean;
    expected_square = square;
    for (int64_t i = 0; i < size; ++i) {
      expected.push_back(ReferenceMixAndStep<float>(mixture.terms(), step, i, &expected_mean[i],
                                                    &expected_square[i]));
    }
  }

  void ExpectStepped(const std::vector<float>& out) const {
    ExpectSameBits(out, expected);
    ExpectSameBits(mean, expected_mean);
    ExpectSameBits(square, expected_square);
  }

  Mixture mixture;
  std::vector<float> own, gradient, mean, square;
  AdamStep step;
  std::vector<float> expected, expected_mean, expected_square;
};

TEST_P(MixAndStepTest, AdamHasTheBitsOfThePlainStep) {
  for (const Decay decay : {Decay::kNone, Decay::kGradient, Decay::kUpdate}) {
    for (int k : {0, 1, 2, 5, 40}) {
      for (int64_t size : kSizes) {
        SCOPED_TRACE("k " + std::to_string(k) + " size " + std::to_string(size));
        AdamFixture f(k, size, decay);
        std::vector<float> out(size, NAN);
        MixAndStep(f.mixture.terms(), f.step, size, out.data(), GetParam());
        f.ExpectStepped(out);
      }
    }
  }
}

TEST_P(MixAndStepTest, AdamStepsInPlace) {
  for (const Decay decay : {Decay::kNone, Decay::kGradient, Decay::kUpdate}) {
    for (int64_t size : {int64_t{1000}, kLarge}) {
      AdamFixture term(3, size, decay);
      MixAndStep(term.mixture.terms(), term.step, size, term.mixture.vector(1).data(), GetParam());
      term.ExpectStepped(term.mixture.vector(1));
      AdamFixture gradient(3, size, decay);
      MixAndStep(gradient.mixture.terms(), gradient.step, size, gradient.gradient.data(),
                 GetParam());
      gradient.ExpectStepped(gradient.gradient);
    }
  }
}

TEST_P(MixAndStepTest, AdamStaysCloseToDoublePrecision) {
  AdamFixture f(3, 4099, Decay::kUpdate);
  const std::vector<float> old_mean = f.mean, old_square = f.square;
  std::vector<float> out(4099);
  MixAndStep(f.mixture.terms(), f.step, 4099, out.data(), GetParam());
  for (size_t i = 0; i < out.size(); ++i) {
    double mean = old_mean[i], square = old_square[i];
    const double exact = ReferenceMixAndStep<double>(f.mixture.terms(), f.step, i, &mean, &square);
    ASSERT_NEAR(out[i], exact, 2e-6 * (1 + std::abs(exact))) << i;
    ASSERT_NEAR(f.mean[i], mean, 1e-6) << i;
    ASSERT_NEAR(f.square[i], square, 1e-6) << i;
  }
}

TEST_P(MixAndStepTest, AdagradHasTheBitsOfThePlainStep) {
  for (const float decay : {0.0f, 0.01f}) {
    for (int64_t size : kSizes) {
      SCOPED_TRACE("size " + std::to_string(size));
      Mixture mixture(3, size);
      const std::vector<float> own = NoiseOf(1, size), gradient = NoiseOf(2, size);
      std::vector<float> sum(size, 0.5f), expected_sum = sum, expected, out(size, NAN);
      const AdagradStep step{.own = own.data(),
                             .gradient = gradient.data(),
                             .sum = sum.data(),
                             .learning_rate = 0.05f,
                             .gradient_scale = 0.125f,
                             .weight_decay = decay};
      for (int64_t i = 0; i < size; ++i) {
        expected.push_back(ReferenceMixAndStep<float>(mixture.terms(), step, i, &expected_sum[i]));
      }
      MixAndStep(mixture.terms(), step, size, out.data(), GetParam());
      ExpectSameBits(out, expected);
      ExpectSameBits(sum, expected_sum);
    }
  }
}

std::string Name(const ::testing::TestParamInfo<InstructionSet>& info) {
  constexpr const char* kNames[] = {"Baseline", "Avx2", "Avx512"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, MixAndStepTest,
                         ::testing::ValuesIn(AvailableInstructionSets()), Name);

}  // namespace
}  // namespace grapevine
