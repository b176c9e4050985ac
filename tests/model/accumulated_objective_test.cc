// Gradients over several passes, on the CPU and on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/problem/objective_wrappers.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using testing::EmulatedDevice;
using testing::FunctionObjective;

// Of pass p: (2^p, p).
std::unique_ptr<Objective> Powers(std::vector<Round>* passes = nullptr) {
  ReplicaLayout layout;
  layout.AddParameter("weight", {2});
  return std::make_unique<FunctionObjective>(
      0, layout, [passes](Rank, Round pass, std::span<const float>, std::span<float> gradient) {
        gradient[0] = static_cast<float>(1 << pass);
        gradient[1] = static_cast<float>(pass);
        if (passes != nullptr) passes->push_back(pass);
      });
}

// One pass in round 0, two in round 1, four in each other.
Passes Growing(Round round) {
  if (round < 2) return {.first = round, .count = round + 1};
  return {.first = 4 * round - 5, .count = 4};
}

std::unique_ptr<Objective> AccumulatedOnTheCpu(std::unique_ptr<Objective> objective) {
  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(std::move(objective));
  auto accumulated = Accumulated(std::move(objectives), {.passes = Growing}, {});
  EXPECT_TRUE(accumulated.ok()) << accumulated.status();
  return std::move(accumulated->front());
}

// Notes from which of its rounds on the data are dealt again.
class Noting final : public Objective {
 public:
  explicit Noting(std::vector<int64_t>* dealt) : dealt_(dealt) {}

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float*) override {}
  absl::StatusOr<double> Gradient(const float*, int64_t, float*) override { return 0; }
  int64_t batch_size() const override { return 1; }
  void DealAgain(int64_t from, std::span<const Rank>) override { dealt_->push_back(from); }

 private:
  const ReplicaLayout layout_;
  std::vector<int64_t>* const dealt_;
};

TEST(AccumulatedObjectiveTest, DataAreDealtAgainFromTheRoundsFirstPassOn) {
  std::vector<int64_t> dealt;
  const auto objective = AccumulatedOnTheCpu(std::make_unique<Noting>(&dealt));
  for (const int64_t round : {0, 1, 2, 3}) objective->DealAgain(round, std::vector<Rank>{0});
  EXPECT_THAT(dealt, ElementsAre(0, 1, 3, 7));
}

TEST(AccumulatedObjectiveTest, IsTheMeanOverTheRoundsPasses) {
  std::vector<Round> passes;
  const auto objective = AccumulatedOnTheCpu(Powers(&passes));
  const std::vector<float> replica(2);
  std::vector<float> gradient(2);
  EXPECT_EQ(*objective->Gradient(replica.data(), 0, gradient.data()), 0.5);
  EXPECT_THAT(gradient, ElementsAre(1, 0));
  EXPECT_EQ(*objective->Gradient(replica.data(), 1, gradient.data()), 0.5);
  EXPECT_THAT(gradient, ElementsAre(3, 1.5));
  EXPECT_EQ(*objective->Gradient(replica.data(), 2, gradient.data()), 0.5);
  EXPECT_THAT(gradient, ElementsAre(30, 4.5));
  EXPECT_THAT(passes, ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(AccumulatedObjectiveTest, PartsAreFinalInTheLastPass) {
  std::vector<Round> passes;
  const auto objective = AccumulatedOnTheCpu(Powers(&passes));
  const std::vector<float> replica(2);
  std::vector<float> gradient(2);
  std::vector<int64_t> parts;
  ASSERT_TRUE(objective
                  ->GradientInParts(replica.data(), 2, gradient.data(),
                                    [&](int64_t from) {
                                      EXPECT_EQ(passes.size(), 4u);
                                      EXPECT_EQ(gradient[1], 4.5) << "the mean, once it is final";
                                      parts.push_back(from);
                                    })
                  .ok());
  EXPECT_THAT(parts, ElementsAre(1));
  EXPECT_THAT(gradient, ElementsAre(30, 4.5));
  // The function's second half is ready after half of its time.
  EXPECT_DOUBLE_EQ(objective->ReadyAt(1, 0), 0.5);
  EXPECT_DOUBLE_EQ(objective->ReadyAt(1, 2), 3.5 / 4);
  EXPECT_DOUBLE_EQ(objective->ReadyAt(0, 2), 1);
}

TEST(AccumulatedObjectiveTest, ObjectivesOfOneThreadShareTheSum) {
  std::vector<std::unique_ptr<Objective>> objectives;
  for (int i = 0; i < 3; ++i) objectives.push_back(Powers());
  const auto accumulated = Accumulated(std::move(objectives), {.passes = Growing}, {});
  ASSERT_TRUE(accumulated.ok()) << accumulated.status();
  const std::vector<float> replica(2);
  for (const auto& objective : *accumulated) {
    std::vector<float> gradient(2);
    ASSERT_TRUE(objective->Gradient(replica.data(), 2, gradient.data()).ok());
    EXPECT_THAT(gradient, ElementsAre(30, 4.5));
  }
}

// Computes in the stream's order, as a network does, and waits.
class OnStream final : public Objective {
 public:
  OnStream(std::unique_ptr<Objective> objective, DeviceStream* stream)
      : objective_(std::move(objective)), stream_(stream) {}
  const ReplicaLayout& layout() const override { return objective_->layout(); }
  void Initialize(float* replica) override { objective_->Initialize(replica); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    const absl::Status status = stream_->Finish(std::chrono::minutes(1));
    if (!status.ok()) return status;
    return objective_->Gradient(replica, round, gradient);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override {
    const absl::Status status = stream_->Finish(std::chrono::minutes(1));
    if (!status.ok()) return status;
    return objective_->GradientInParts(replica, round, gradient, final_from);
  }
  int64_t batch_size() const override { return 1; }

 private:
  const std::unique_ptr<Objective> objective_;
  DeviceStream* const stream_;
};

// What is queued on a device reads a gradient later than its objective wrote it: the next pass must
// not come in between.
TEST(AccumulatedObjectiveTest, OnADeviceNoPassOvertakesTheSum) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  const ComputeContext context{.device = &device, .stream = stream.get()};

  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(std::make_unique<OnStream>(Powers(), stream.get()));
  const auto accumulated = Accumulated(std::move(objectives), {.passes = Growing}, context);
  ASSERT_TRUE(accumulated.ok()) << accumulated.status();
  const std::vector<float> replica(2);
  std::vector<float> gradient(2);
  ASSERT_TRUE(accumulated->front()->Gradient(replica.data(), 2, gradient.data()).ok());
  EXPECT_THAT(gradient, ElementsAre(30, 4.5));
}

TEST(AccumulatedObjectiveTest, ADeviceWithoutMemoryForTheSumIsAnError) {
  EmulatedDevice device({.memory = 4});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(Powers());
  EXPECT_EQ(Accumulated(std::move(objectives), {.passes = Growing},
                        {.device = &device, .stream = stream.get()})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

std::unique_ptr<Objective> Measured(std::unique_ptr<Objective> objective, PassesOf passes,
                                    const ComputeContext& context) {
  if (context.stream != nullptr) {
    objective = std::make_unique<OnStream>(std::move(objective), context.stream);
  }
  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(std::move(objective));
  auto measured = Accumulated(std::move(objectives),
                              {.passes = std::move(passes), .measures_noise = true}, context);
  EXPECT_TRUE(measured.ok()) << measured.status();
  return std::move(measured->front());
}

// The noise of round 0, 1 and 2, in one piece or in parts.
std::vector<GradientNoise> NoisesOf(Objective& objective, bool in_parts) {
  const std::vector<float> replica(2);
  std::vector<float> gradient(2);
  std::vector<GradientNoise> noises;
  for (int64_t round = 0; round < 3; ++round) {
    const Objective::FinalFrom part = [](int64_t) {};
    const absl::StatusOr<double> loss =
        in_parts ? objective.GradientInParts(replica.data(), round, gradient.data(), part)
                 : objective.Gradient(replica.data(), round, gradient.data());
    EXPECT_TRUE(loss.ok()) << loss.status();
    noises.push_back(objective.noise());
  }
  EXPECT_THAT(gradient, ElementsAre(30, 4.5)) << "what it is without being measured";
  return noises;
}

TEST(AccumulatedObjectiveTest, TheNoiseIsOfTheRoundsPasses) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  for (const ComputeContext& context :
       {ComputeContext{}, ComputeContext{.device = &device, .stream = stream.get()}}) {
    const auto objective = Measured(Powers(), Growing, context);
    for (const bool in_parts : {false, true}) {
      const std::vector<GradientNoise> noises = NoisesOf(*objective, in_parts);
      EXPECT_EQ(noises[0].gradients, 0) << "one pass tells nothing";
      // (2, 1) and (4, 2) around (3, 1.5): a variance of 2 + 0.5, and 9 + 2.25 - 2.5 / 2.
      EXPECT_EQ(noises[1].gradients, 1);
      EXPECT_DOUBLE_EQ(noises[1].variance, 2.5);
      EXPECT_DOUBLE_EQ(noises[1].square, 10);
      EXPECT_DOUBLE_EQ(*noises[1].Scale(), 0.25);
      // (8, 3), (16, 4), (32, 5), (64, 6) around (30, 4.5).
      const double variance = (22 * 22 + 14 * 14 + 2 * 2 + 34 * 34 + 5.0) / 3;
      EXPECT_NEAR(noises[2].variance, variance, 1e-9);
      EXPECT_NEAR(noises[2].square, 30 * 30 + 4.5 * 4.5 - variance / 4, 1e-9);
    }
  }
}

TEST(AccumulatedObjectiveTest, GradientsThatHaveDivergedHaveNoNoise) {
  ReplicaLayout layout;
  layout.AddParameter("weight", {1});
  const auto objective =
      Measured(std::make_unique<FunctionObjective>(
                   0, layout,
                   [](Rank, Round pass, std::span<const float>, std::span<float> gradient) {
                     gradient[0] = pass == 1 ? std::numeric_limits<float>::infinity() : 1;
                   }),
               Growing, {});
  const std::vector<float> replica(1);
  std::vector<float> gradient(1);
  ASSERT_TRUE(objective->Gradient(replica.data(), 1, gradient.data()).ok());
  EXPECT_EQ(objective->noise().gradients, 0);
  EXPECT_EQ(objective->noise().variance, 0);
  ASSERT_TRUE(objective->Gradient(replica.data(), 2, gradient.data()).ok());
  EXPECT_EQ(objective->noise().gradients, 1) << "one that has not";
}

TEST(AccumulatedObjectiveTest, WhatIsNotMeasuredHasNoNoise) {
  const auto objective = AccumulatedOnTheCpu(Powers());
  for (const GradientNoise& noise : NoisesOf(*objective, /*in_parts=*/false)) {
    EXPECT_EQ(noise.gradients, 0);
  }
}

// More norms than a device keeps at once.
TEST(AccumulatedObjectiveTest, ManyPassesHaveANoiseToo) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  constexpr int64_t kPasses = 1000;
  ReplicaLayout layout;
  layout.AddParameter("weight", {1});
  const auto objective =
      Measured(std::make_unique<FunctionObjective>(
                   0, layout,
                   [](Rank, Round pass, std::span<const float>, std::span<float> gradient) {
                     gradient[0] = pass % 2 == 0 ? 1 : 3;
                   }),
               [](Round) { return Passes{.first = 0, .count = kPasses}; },
               {.device = &device, .stream = stream.get()});
  const std::vector<float> replica(1);
  std::vector<float> gradient(1);
  ASSERT_TRUE(objective->Gradient(replica.data(), 0, gradient.data()).ok());
  const GradientNoise noise = objective->noise();
  EXPECT_NEAR(noise.variance, 1000.0 / 999, 1e-4);
  EXPECT_NEAR(noise.square, 4 - 1.0 / 999, 1e-4);
}

TEST(GradientNoiseTest, AnEstimateOfNoGradientAtAllHasNoScale) {
  // Opposite gradients: the estimate of |G|^2 is negative.
  const GradientNoise noise = NoiseOf(/*sum_of_squares=*/2, /*square_of_mean=*/0, 2, 8);
  EXPECT_DOUBLE_EQ(noise.variance, 16);
  EXPECT_DOUBLE_EQ(noise.square, -1);
  EXPECT_FALSE(noise.Scale().has_value());
  EXPECT_FALSE(GradientNoise().Scale().has_value());
}

}  // namespace
}  // namespace grapevine
