// Gradients over several passes, on the CPU and on a device.
#include "model/problem/accumulated_objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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
  auto accumulated = Accumulated(std::move(objectives), Growing, {});
  EXPECT_TRUE(accumulated.ok()) << accumulated.status();
  return std::move(accumulated->front());
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
  const auto accumulated = Accumulated(std::move(objectives), Growing, {});
  ASSERT_TRUE(accumulated.ok()) << accumulated.status();
  const std::vector<float> replica(2);
  for (const auto& objective : *accumulated) {
    std::vector<float> gradient(2);
    ASSERT_TRUE(objective->Gradient(replica.data(), 2, gradient.data()).ok());
    EXPECT_THAT(gradient, ElementsAre(30, 4.5));
  }
}

// What is queued on a device reads a gradient later than its objective wrote it: the next pass must
// not come in between.
TEST(AccumulatedObjectiveTest, OnADeviceNoPassOvertakesTheSum) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  const ComputeContext context{.device = &device, .stream = stream.get()};

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
    int64_t batch_size() const override { return 1; }

   private:
    const std::unique_ptr<Objective> objective_;
    DeviceStream* const stream_;
  };

  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(std::make_unique<OnStream>(Powers(), stream.get()));
  const auto accumulated = Accumulated(std::move(objectives), Growing, context);
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
  EXPECT_EQ(Accumulated(std::move(objectives), Growing, {.device = &device, .stream = stream.get()})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace grapevine
