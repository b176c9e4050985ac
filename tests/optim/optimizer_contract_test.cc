// What every registered optimizer promises, whatever its rule.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

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

class OptimizerContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kParameters = 17 * 17 + 12;
  static constexpr int64_t kBuffers = 21;
  static constexpr int64_t kSize = kParameters + kBuffers;

  OptimizerContractTest() {
    layout_.AddParameter("weight", {17, 17});
    layout_.AddParameter("bias", {12});
    layout_.AddBuffer("running_mean", {kBuffers});
  }

  Vec Copy(const std::vector<float>& values) {
    const Vec vector = vectors_.New(static_cast<int64_t>(values.size()), "a vector");
    std::ranges::copy(values, Of(vector).begin());
    return vector;
  }
  Vec Zeros(int64_t size) { return Copy(std::vector<float>(static_cast<size_t>(size))); }
  int64_t StateSize() const { return OptimizerStateSize(*optimizer_, layout_, {0, kSize}); }
  Vec NewState() { return Zeros(StateSize()); }

  std::span<float> Of(Vec vector) { return vectors_.At(vector).span(); }
  std::vector<float> Numbers(Vec vector) { return {Of(vector).begin(), Of(vector).end()}; }
  std::vector<float> Parameters(Vec vector) {
    const std::span<float> parameters = Of(vector).first(kParameters);
    return {parameters.begin(), parameters.end()};
  }

  // A step from the mixture, into `out`.
  StepRequest Request(Vec state, Vec out) {
    return {.range = {0, kSize},
            .out = out,
            .mix = mix_,
            .own = own_,
            .gradient = gradient_,
            .state = state,
            .step = steps_[state.id]++,
            .learning_rate = 0.1};
  }
  void Step(const StepRequest& request) { optimizer_->Step(layout_, request, vectors_); }

  ReplicaLayout layout_;
  std::unique_ptr<Optimizer> optimizer_ = *MakeOptimizer(GetParam(), {});
  VectorTable vectors_;
  std::map<uint32_t, int64_t> steps_;  // by state
  const Vec own_ = Copy(Noise(1, kSize)), other_ = Copy(Noise(2, kSize)),
            gradient_ = Copy(Noise(3, kSize));
  const std::vector<Term> mix_ = {{0.75, {own_, 0, kSize}}, {0.25, {other_, 0, kSize}}};
};

TEST_P(OptimizerContractTest, ItsNameMakesTheSameOptimizer) {
  const auto again = *MakeOptimizer(optimizer_->name(), {.momentum = 0.123, .weight_decay = 7});
  EXPECT_EQ(again->name(), optimizer_->name());
  EXPECT_EQ(again->state_vectors(), optimizer_->state_vectors());
}

TEST_P(OptimizerContractTest, AtRateZeroItOnlyMixes) {
  const Vec out = Zeros(kSize);
  StepRequest request = Request(NewState(), out);
  request.learning_rate = 0;
  Step(request);
  for (int64_t i = 0; i < kParameters; ++i) {
    ASSERT_EQ(Of(out)[i], 0.75f * Of(own_)[i] + 0.25f * Of(other_)[i]) << i;
  }
}

TEST_P(OptimizerContractTest, BuffersAreAveragedConvexlyAndScaledWithTheGradient) {
  const Vec out = Zeros(kSize);
  StepRequest request = Request(NewState(), out);
  request.gradient_scale = 0.5;
  Step(request);
  for (int64_t i = kParameters; i < kSize; ++i) {
    const double mixed = 0.75 * Of(own_)[i] + 0.25 * Of(other_)[i];
    ASSERT_NEAR(Of(out)[i], 0.9 * mixed + 0.1 * 0.5 * Of(gradient_)[i], 1e-6) << i;
  }
}

TEST_P(OptimizerContractTest, BuffersDoNotReachTheParameters) {
  const Vec state = NewState(), out = Zeros(kSize), other_state = NewState(),
            other_out = Zeros(kSize);
  for (int round = 0; round < 3; ++round) Step(Request(state, out));
  for (int64_t i = kParameters; i < kSize; ++i) Of(gradient_)[i] = Of(own_)[i] = NAN;
  for (int round = 0; round < 3; ++round) Step(Request(other_state, other_out));
  EXPECT_TRUE(SameBits(Parameters(out), Parameters(other_out)));
  EXPECT_TRUE(SameBits(Numbers(state), Numbers(other_state)));
}

TEST_P(OptimizerContractTest, InPlaceGivesTheSameBits) {
  Vec apart = Copy(Numbers(own_)), fresh = Zeros(kSize);
  const Vec apart_state = NewState(), state = NewState();
  for (int round = 0; round < 5; ++round) {
    const std::vector<Term> mix = {{0.75, {apart, 0, kSize}}, {0.25, {other_, 0, kSize}}};
    StepRequest request = Request(apart_state, fresh);
    request.mix = mix;
    request.own = apart;
    Step(request);
    std::swap(apart, fresh);
  }
  for (int round = 0; round < 5; ++round) Step(Request(state, own_));
  EXPECT_TRUE(SameBits(Numbers(own_), Numbers(apart)));
  EXPECT_TRUE(SameBits(Numbers(state), Numbers(apart_state)));
}

TEST_P(OptimizerContractTest, InTheGradientsPlaceGivesTheSameBits) {
  const Vec state = NewState(), out = Zeros(kSize), in_place_state = NewState();
  for (int round = 0; round < 3; ++round) {
    Step(Request(state, out));
    const Vec in_place = Copy(Numbers(gradient_));
    StepRequest request = Request(in_place_state, in_place);
    request.gradient = in_place;
    Step(request);
    EXPECT_TRUE(SameBits(Numbers(in_place), Numbers(out))) << "round " << round;
  }
  EXPECT_TRUE(SameBits(Numbers(in_place_state), Numbers(state)));
}

TEST_P(OptimizerContractTest, ScalingTheGradientIsScalingItBefore) {
  const Vec state = NewState(), out = Zeros(kSize), scaled_state = NewState(),
            scaled_out = Zeros(kSize);
  StepRequest request = Request(state, out);
  request.gradient_scale = 0.125;  // a power of two: exact
  Step(request);
  for (float& value : Of(gradient_)) value *= 0.125f;
  Step(Request(scaled_state, scaled_out));
  EXPECT_TRUE(SameBits(Parameters(out), Parameters(scaled_out)));
  EXPECT_TRUE(SameBits(Numbers(state), Numbers(scaled_state)));
}

TEST_P(OptimizerContractTest, WritesOnlyItsStateAndOut) {
  constexpr float kGuard = 42;
  const std::vector<float> guard(16, kGuard);
  const auto guarded = [&](int64_t size) {
    std::vector<float> values(static_cast<size_t>(size));
    values.insert(values.end(), guard.begin(), guard.end());
    return Copy(values);
  };
  const auto behind = [&](Vec vector) {
    const std::span<float> last = Of(vector).last(guard.size());
    return std::vector<float>(last.begin(), last.end());
  };
  const Vec state = guarded(StateSize()), out = guarded(kSize);
  const std::vector<float> own = Numbers(own_), other = Numbers(other_),
                           gradient = Numbers(gradient_);
  Step(Request(state, out));
  EXPECT_EQ(behind(state), guard);
  EXPECT_EQ(behind(out), guard);
  EXPECT_TRUE(SameBits(Numbers(own_), own) && SameBits(Numbers(other_), other) &&
              SameBits(Numbers(gradient_), gradient));
}

// At a rate that suits the rule and declines to 0, without which rules of steps of a given length
// never arrive.
TEST_P(OptimizerContractTest, FindsTheMinimumOfAQuadratic) {
  constexpr int kRounds = 400;
  const std::vector<float> start = Numbers(own_);
  const std::vector<Term> alone = {{1.0, {own_, 0, kSize}}};
  std::vector<double> errors;  // the largest of an element's
  for (const double rate : {0.05, 0.5}) {
    std::ranges::copy(start, Of(own_).begin());
    const Vec state = NewState();
    for (int round = 0; round < kRounds; ++round) {
      for (int64_t i = 0; i < kParameters; ++i) Of(gradient_)[i] = Of(own_)[i] - Of(other_)[i];
      StepRequest request = Request(state, own_);
      request.mix = alone;
      request.learning_rate = rate * (1 - static_cast<double>(round) / kRounds);
      Step(request);
    }
    double& error = errors.emplace_back(0);
    for (int64_t i = 0; i < kParameters; ++i) {
      const double off = std::abs(Of(own_)[i] - Of(other_)[i]);
      error = off <= error ? error : off;  // NaN is the largest
    }
  }
  // Weight decay 0.01 moves the minimum by one per cent.
  EXPECT_THAT(errors, ::testing::Contains(::testing::Lt(0.011)));
}

TEST_P(OptimizerContractTest, WithoutParametersOrBuffersNothingBreaks) {
  const Vec state = Copy({1}), out = Copy({2});
  optimizer_->Step(ReplicaLayout(), Request(state, out), vectors_);
  EXPECT_EQ(Numbers(state), std::vector<float>{1});
  EXPECT_EQ(Numbers(out), std::vector<float>{2});
}

TEST(Optimizers, AreUnderContract) { testing::ExpectOwnExamples(Optimizers()); }

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerContractTest,
                         ::testing::ValuesIn(testing::ExamplesOf(Optimizers())),
                         testing::SpecTestName);

}  // namespace
}  // namespace grapevine
