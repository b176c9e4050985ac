// The norms of tensors, on the CPU and on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/problem/objective_wrappers.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using testing::EmulatedDevice;
using testing::FunctionObjective;
using ::testing::SizeIs;

bool IsOdd(int64_t round) { return round % 2 == 1; }

// The gradient is ten times the replica.
std::unique_ptr<Objective> Tenfold(const ReplicaLayout& layout) {
  return std::make_unique<FunctionObjective>(
      0, layout, [](Rank, Round, std::span<const float> x, std::span<float> gradient) {
        std::ranges::transform(x, gradient.begin(), [](float value) { return 10 * value; });
      });
}

absl::StatusOr<std::unique_ptr<Objective>> NormedOne(std::unique_ptr<Objective> objective,
                                                     const ComputeContext& context = {}) {
  std::vector<std::unique_ptr<Objective>> objectives;
  objectives.push_back(std::move(objective));
  auto normed = Normed(std::move(objectives), IsOdd, context);
  if (!normed.ok()) return normed.status();
  return std::move(normed->front());
}

// 2 x 1 weights, a bias and a buffer.
ReplicaLayout SmallLayout() {
  ReplicaLayout layout;
  layout.AddParameter("fc.weight", {2, 1});
  layout.AddParameter("fc.bias", {2});
  layout.AddBuffer("running_mean", {1});
  return layout;
}
const std::vector<float> kReplica = {3, 4, 5, 12, 1e6};

std::vector<std::string> TextOf(std::span<const TensorNorms> norms) {
  std::vector<std::string> text;
  for (const TensorNorms& norm : norms) {
    text.push_back(
        absl::StrCat(norm.tensor, " ", norm.dimensions, " ", norm.weights, " ", norm.gradient));
  }
  return text;
}

TEST(NormedObjectiveTest, NormsAreOfEachParametersTensor) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  for (const ComputeContext& context :
       {ComputeContext{}, ComputeContext{.device = &device, .stream = stream.get()}}) {
    const auto objective = NormedOne(Tenfold(SmallLayout()), context);
    ASSERT_TRUE(objective.ok()) << objective.status();
    std::vector<float> gradient(5);
    ASSERT_TRUE((*objective)->Gradient(kReplica.data(), 1, gradient.data()).ok());
    EXPECT_THAT(TextOf((*objective)->norms()), ElementsAre("fc.weight 2 5 50", "fc.bias 1 13 130"));
    EXPECT_THAT(gradient, ElementsAre(30, 40, 50, 120, 1e7)) << "as it is without";
  }
}

TEST(NormedObjectiveTest, RoundsThatAreNotMeasuredHaveNone) {
  const auto objective = NormedOne(Tenfold(SmallLayout()));
  std::vector<float> gradient(5);
  for (const int64_t round : {0, 1, 2}) {
    ASSERT_TRUE((*objective)->Gradient(kReplica.data(), round, gradient.data()).ok());
    EXPECT_EQ((*objective)->norms().empty(), !IsOdd(round));
  }
}

// What is announced may be written by others at once.
TEST(NormedObjectiveTest, PartsAreMeasuredBeforeTheyAreAnnounced) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  for (const ComputeContext& context :
       {ComputeContext{}, ComputeContext{.device = &device, .stream = stream.get()}}) {
    const auto objective = NormedOne(Tenfold(SmallLayout()), context);
    ASSERT_TRUE(objective.ok()) << objective.status();
    std::vector<float> gradient(5);
    std::vector<int64_t> parts;
    const auto loss =
        (*objective)->GradientInParts(kReplica.data(), 1, gradient.data(), [&](int64_t from) {
          parts.push_back(from);
          // In the order of the stream, as an algorithm's passes are.
          if (context.stream != nullptr) {
            context.stream->WeightedSum(std::vector<WeightedVector>{{0, gradient.data() + from}},
                                        5 - from, gradient.data() + from);
          } else {
            std::fill(gradient.begin() + from, gradient.end(), 0.0f);
          }
        });
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_THAT(parts, ElementsAre(2));
    EXPECT_THAT(TextOf((*objective)->norms()), ElementsAre("fc.weight 2 5 50", "fc.bias 1 13 130"));
    EXPECT_THAT(gradient, ElementsAre(30, 40, 0, 0, 0));
  }
}

// The objective announces its second half, in the middle of the only tensor.
TEST(NormedObjectiveTest, ATensorThatAPartCutsIsAnnouncedWhole) {
  ReplicaLayout layout;
  layout.AddParameter("x", {4});
  const auto objective = NormedOne(Tenfold(layout));
  std::vector<float> gradient(4);
  std::vector<int64_t> parts;
  for (const int64_t round : {0, 1}) {
    ASSERT_TRUE((*objective)
                    ->GradientInParts(kReplica.data(), round, gradient.data(),
                                      [&](int64_t from) { parts.push_back(from); })
                    .ok());
  }
  EXPECT_THAT(parts, ElementsAre(2)) << "nothing before its end where it is measured, round 1";
  EXPECT_THAT(TextOf((*objective)->norms()), ElementsAre("x 1 13.9284 139.284"));
}

// Announces one element after the other, from the last to the first.
class Elementwise final : public Objective {
 public:
  explicit Elementwise(const ReplicaLayout& layout) : layout_(layout) {}
  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float*) override {}
  absl::StatusOr<double> Gradient(const float*, int64_t, float* gradient) override {
    std::fill_n(gradient, layout_.size, 1.0f);
    return 0;
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override {
    const absl::StatusOr<double> loss = Gradient(replica, round, gradient);
    for (int64_t from = layout_.size - 1; from >= 0; --from) final_from(from);
    return loss;
  }
  int64_t batch_size() const override { return 1; }

 private:
  const ReplicaLayout layout_;
};

TEST(NormedObjectiveTest, WhatIsAnnouncedDecreasesWhereManyPartsCutATensor) {
  const auto objective = NormedOne(std::make_unique<Elementwise>(SmallLayout()));
  ASSERT_TRUE(objective.ok()) << objective.status();
  std::vector<float> gradient(5);
  std::vector<int64_t> parts;
  const auto loss =
      (*objective)->GradientInParts(kReplica.data(), 1, gradient.data(), [&](int64_t from) {
        parts.push_back(from);
      });
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_THAT(parts, ElementsAre(4, 2, 0));
}

// More norms than a device keeps at once.
TEST(NormedObjectiveTest, ManyTensorsAreMeasuredOnADevice) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  constexpr int kTensors = 500;
  ReplicaLayout layout;
  std::vector<float> replica;
  for (int i = 0; i < kTensors; ++i) {
    layout.AddParameter(absl::StrCat(i), {1});
    replica.push_back(static_cast<float>(i));
  }
  const auto objective = NormedOne(Tenfold(layout), {.device = &device, .stream = stream.get()});
  ASSERT_TRUE(objective.ok()) << objective.status();
  std::vector<float> gradient(kTensors);
  ASSERT_TRUE((*objective)->Gradient(replica.data(), 1, gradient.data()).ok());
  const std::span<const TensorNorms> norms = (*objective)->norms();
  ASSERT_THAT(norms, SizeIs(kTensors));
  for (int i = 0; i < kTensors; ++i) {
    EXPECT_EQ(norms[i].tensor, absl::StrCat(i));
    EXPECT_EQ(norms[i].weights, i);
    EXPECT_EQ(norms[i].gradient, 10 * i);
  }
}

TEST(NormedObjectiveTest, ADeviceWithoutMemoryForTheNormsIsAnError) {
  EmulatedDevice device({.memory = 4});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  EXPECT_EQ(NormedOne(Tenfold(SmallLayout()), {.device = &device, .stream = stream.get()})
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace grapevine
