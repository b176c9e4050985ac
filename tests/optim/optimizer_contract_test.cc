// What every optimizer promises, whatever its rule. A new rule joins kSpecs.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/replica_layout.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr const char* kSpecs[] = {
    "sgd:momentum=0",        "sgd:momentum=0:weight_decay=0.01",
    "sgd:momentum=0.9",      "sgd:momentum=0.9:weight_decay=0.01",
    "nesterov:momentum=0.9", "nesterov:momentum=0.9:weight_decay=0.01",
};

constexpr uint64_t kSeed = 5;

std::vector<float> Noise(uint64_t stream, int64_t size) {
  KeyedRandom random(kSeed, Purpose::kGradientNoise, stream);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

class OptimizerContractTest : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int64_t kParameters = 301;
  static constexpr int64_t kBuffers = 21;
  static constexpr int64_t kSize = kParameters + kBuffers;

  OptimizerContractTest() {
    layout_.AddParameter("weight", {kParameters});
    layout_.AddBuffer("running_mean", {kBuffers});
  }

  std::vector<float> NewState() const {
    return std::vector<float>(
        static_cast<size_t>(optimizer_->state_vectors() * layout_.parameter_size));
  }
  StepInput Input(const std::vector<WeightedVector>& mix) const {
    return {.mix = mix, .own = own_.data(), .gradient = gradient_.data(), .learning_rate = 0.1f};
  }

  ReplicaLayout layout_;
  std::unique_ptr<Optimizer> optimizer_ = *MakeOptimizer(GetParam(), {});
  std::vector<float> own_ = Noise(1, kSize), other_ = Noise(2, kSize), gradient_ = Noise(3, kSize);
  CpuPasses cpu_;
  std::vector<WeightedVector> mix_ = {{0.75f, own_.data()}, {0.25f, other_.data()}};
};

TEST_P(OptimizerContractTest, ItsNameMakesTheSameOptimizer) {
  const auto again = *MakeOptimizer(optimizer_->name(), {.momentum = 0.123, .weight_decay = 7});
  EXPECT_EQ(again->name(), optimizer_->name());
  EXPECT_EQ(again->state_vectors(), optimizer_->state_vectors());
}

TEST_P(OptimizerContractTest, AtRateZeroItOnlyMixes) {
  std::vector<float> state = NewState(), out(kSize);
  StepInput input = Input(mix_);
  input.learning_rate = 0;
  optimizer_->Step(layout_, input, state.data(), out.data(), cpu_);
  for (int64_t i = 0; i < kParameters; ++i) {
    ASSERT_EQ(out[i], 0.75f * own_[i] + 0.25f * other_[i]) << i;
  }
}

TEST_P(OptimizerContractTest, BuffersAreAveragedConvexlyAndScaledWithTheGradient) {
  std::vector<float> state = NewState(), out(kSize);
  StepInput input = Input(mix_);
  input.gradient_scale = 0.5f;
  optimizer_->Step(layout_, input, state.data(), out.data(), cpu_);
  for (int64_t i = kParameters; i < kSize; ++i) {
    const double mixed = 0.75 * own_[i] + 0.25 * other_[i];
    ASSERT_NEAR(out[i], 0.9 * mixed + 0.1 * 0.5 * gradient_[i], 1e-6) << i;
  }
}

TEST_P(OptimizerContractTest, BuffersDoNotReachTheParameters) {
  std::vector<float> state = NewState(), out(kSize), other_state = NewState(), other_out(kSize);
  for (int round = 0; round < 3; ++round) {
    optimizer_->Step(layout_, Input(mix_), state.data(), out.data(), cpu_);
  }
  for (int64_t i = kParameters; i < kSize; ++i) gradient_[i] = own_[i] = NAN;
  for (int round = 0; round < 3; ++round) {
    optimizer_->Step(layout_, Input(mix_), other_state.data(), other_out.data(), cpu_);
  }
  out.resize(kParameters);
  other_out.resize(kParameters);
  EXPECT_TRUE(SameBits(out, other_out));
  EXPECT_TRUE(SameBits(state, other_state));
}

TEST_P(OptimizerContractTest, InPlaceGivesTheSameBits) {
  std::vector<float> apart = own_, apart_state = NewState(), fresh(kSize);
  for (int round = 0; round < 5; ++round) {
    const std::vector<WeightedVector> mix = {{0.75f, apart.data()}, {0.25f, other_.data()}};
    StepInput input = Input(mix);
    input.own = apart.data();
    optimizer_->Step(layout_, input, apart_state.data(), fresh.data(), cpu_);
    std::swap(apart, fresh);
  }
  std::vector<float> state = NewState();
  for (int round = 0; round < 5; ++round) {
    optimizer_->Step(layout_, Input(mix_), state.data(), own_.data(), cpu_);
  }
  EXPECT_TRUE(SameBits(own_, apart));
  EXPECT_TRUE(SameBits(state, apart_state));
}

TEST_P(OptimizerContractTest, InTheGradientsPlaceGivesTheSameBits) {
  std::vector<float> state = NewState(), out(kSize), in_place_state = NewState();
  for (int round = 0; round < 3; ++round) {
    optimizer_->Step(layout_, Input(mix_), state.data(), out.data(), cpu_);
    std::vector<float> in_place = gradient_;
    StepInput input = Input(mix_);
    input.gradient = in_place.data();
    optimizer_->Step(layout_, input, in_place_state.data(), in_place.data(), cpu_);
    EXPECT_TRUE(SameBits(in_place, out)) << "round " << round;
  }
  EXPECT_TRUE(SameBits(in_place_state, state));
}

TEST_P(OptimizerContractTest, ScalingTheGradientIsScalingItBefore) {
  std::vector<float> state = NewState(), out(kSize), scaled_state = NewState(), scaled_out(kSize);
  StepInput input = Input(mix_);
  input.gradient_scale = 0.125f;  // a power of two: exact
  optimizer_->Step(layout_, input, state.data(), out.data(), cpu_);
  for (float& value : gradient_) value *= 0.125f;
  optimizer_->Step(layout_, Input(mix_), scaled_state.data(), scaled_out.data(), cpu_);
  out.resize(kParameters);
  scaled_out.resize(kParameters);
  EXPECT_TRUE(SameBits(out, scaled_out));
  EXPECT_TRUE(SameBits(state, scaled_state));
}

TEST_P(OptimizerContractTest, WritesOnlyItsStateAndOut) {
  constexpr float kGuard = 42;
  std::vector<float> state = NewState(), out(kSize + 16, kGuard);
  const size_t used = state.size();
  state.resize(used + 16, kGuard);
  const std::vector<float> own = own_, other = other_, gradient = gradient_;
  optimizer_->Step(layout_, Input(mix_), state.data(), out.data(), cpu_);
  EXPECT_EQ(std::vector<float>(state.begin() + used, state.end()), std::vector<float>(16, kGuard));
  EXPECT_EQ(std::vector<float>(out.begin() + kSize, out.end()), std::vector<float>(16, kGuard));
  EXPECT_TRUE(SameBits(own_, own) && SameBits(other_, other) && SameBits(gradient_, gradient));
}

TEST_P(OptimizerContractTest, FindsTheMinimumOfAQuadratic) {
  std::vector<float> state = NewState();
  const std::vector<WeightedVector> alone = {{1, own_.data()}};
  for (int round = 0; round < 400; ++round) {
    for (int64_t i = 0; i < kParameters; ++i) gradient_[i] = own_[i] - other_[i];
    StepInput input = Input(alone);
    input.learning_rate = 0.05f;
    optimizer_->Step(layout_, input, state.data(), own_.data(), cpu_);
  }
  // Weight decay 0.01 moves the minimum by one per cent.
  for (int64_t i = 0; i < kParameters; ++i) ASSERT_NEAR(own_[i], other_[i], 0.011) << i;
}

TEST_P(OptimizerContractTest, WithoutParametersOrBuffersNothingBreaks) {
  const ReplicaLayout empty;
  float state = 1, out = 2;
  optimizer_->Step(empty, Input(mix_), &state, &out, cpu_);
  EXPECT_EQ(state, 1);
  EXPECT_EQ(out, 2);
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerContractTest, testing::ValuesIn(kSpecs),
                         [](const testing::TestParamInfo<const char*>& info) {
                           std::string name;
                           for (char c : std::string(info.param)) name += isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace grapevine
