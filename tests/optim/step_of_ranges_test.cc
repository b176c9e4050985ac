// A step of ranges, one after the other, is the step of the whole replica.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int kRounds = 4;
constexpr uint64_t kSeed = 3;

ReplicaLayout Layout() {
  ReplicaLayout layout;
  layout.AddParameter("conv.weight", {5, 7});
  layout.AddParameter("conv.bias", {5});
  layout.AddParameter("fc.weight", {3, 11});
  layout.AddBuffer("running_mean", {6});
  layout.AddBuffer("running_var", {6});
  return layout;
}

void Fill(uint64_t stream, int64_t offset, int64_t size, std::span<float> out) {
  KeyedRandom random(kSeed, Purpose::kGradientNoise, stream);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  std::copy_n(values.begin() + offset, out.size(), out.begin());
}

// What `optimizer` makes of one range in kRounds steps.
std::vector<float> Stepped(const Optimizer& optimizer, ReplicaRange range) {
  const ReplicaLayout layout = Layout();
  VectorTable vectors;
  const Vec state = vectors.New(OptimizerStateSize(optimizer, layout, range), "a vector");
  vectors.Clear(state);
  const Vec own = vectors.New(range.size, "a vector");
  const Vec gradient = vectors.New(range.size, "a vector");
  Fill(0, range.offset, layout.size, vectors.At(own).span());
  for (int round = 0; round < kRounds; ++round) {
    Fill(1 + round, range.offset, layout.size, vectors.At(gradient).span());
    const Term mix{1.0, {own, 0, range.size}};
    ApplyStep(optimizer, layout,
              {.range = range,
               .out = own,
               .mix = {&mix, 1},
               .own = own,
               .gradient = gradient,
               .state = state,
               .step = round,
               .learning_rate = 0.1,
               .gradient_scale = 0.25},
              vectors);
  }
  const std::span<const float> out = vectors.At(own).span();
  return {out.begin(), out.end()};
}

class StepOfRanges : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(StepOfRanges, GivesTheBitsOfTheWhole) {
  const auto& [spec, ranges] = GetParam();
  const std::unique_ptr<Optimizer> optimizer = *MakeOptimizer(spec, {});
  const int64_t size = Layout().size;
  std::vector<float> joined;
  for (int range = 0; range < ranges; ++range) {
    const int64_t begin = size * range / ranges;
    const std::vector<float> part =
        Stepped(*optimizer, {begin, size * (range + 1) / ranges - begin});
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, Stepped(*optimizer, {0, size}));
}

INSTANTIATE_TEST_SUITE_P(All, StepOfRanges,
                         ::testing::Combine(::testing::Values("sgd:momentum=0",
                                                              "sgd:weight_decay=0.01", "nesterov",
                                                              "adam:weight_decay=0.01",
                                                              "adamw:weight_decay=0.01", "adagrad"),
                                            // With more ranges than elements some are empty.
                                            ::testing::Values(2, 3, 7, 85, 100)));

// A range may begin and end in what has no ratio of its own: a bias, or batch statistics.
constexpr int64_t kInConvBias = 37, kInRunningMean = 75;

TEST(StepOfRangesOfTensors, GivesTheBitsOfTheWholeWithNorms) {
  for (const char* spec : {"lars:weight_decay=0.01:trust=0.1", "lars:momentum=0:trust=0.1",
                           "lamb:weight_decay=0.01", "lamb"}) {
    const std::unique_ptr<Optimizer> optimizer = *MakeOptimizer(spec, {});
    const int64_t size = Layout().size;
    std::vector<float> joined;
    for (const ReplicaRange range : {ReplicaRange{0, kInConvBias},
                                     {kInConvBias, kInRunningMean - kInConvBias},
                                     {kInRunningMean, size - kInRunningMean}}) {
      const std::vector<float> part = Stepped(*optimizer, range);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, Stepped(*optimizer, {0, size})) << spec;
  }
}

TEST(CutTensor, IsTheFirstThatTheRuleNeedsWhole) {
  const ReplicaLayout layout = Layout();
  const auto cut = [&](const char* spec, const std::vector<ReplicaRange>& ranges) {
    const TensorView* const tensor = CutTensor(**MakeOptimizer(spec, {}), layout, ranges);
    return tensor == nullptr ? "none" : tensor->name;
  };
  EXPECT_EQ(cut("lars", {{0, 42}, {42, 43}}), "fc.weight");
  EXPECT_EQ(cut("lamb", {{0, 10}, {10, 75}}), "conv.weight");
  EXPECT_EQ(cut("lamb", {{0, kInConvBias}, {kInConvBias, 48}}), "none");
  EXPECT_EQ(cut("adam", {{0, 42}, {42, 43}}), "none");
}

TEST(StepOfRangesDeathTest, APartOfATensorIsNoTensor) {
  const std::unique_ptr<Optimizer> optimizer = *MakeOptimizer("lars", {});
  EXPECT_DEATH(Stepped(*optimizer, {0, 42}), "a part of fc.weight");
}

TEST(LayoutWithin, KeepsNamesAndSectionsAndFlattensWhatIsCut) {
  ReplicaLayout layout = Layout();
  layout.buffer_momentum = 0.3f;
  const ReplicaLayout within = layout.Within({30, 50});
  ASSERT_EQ(within.parameters.size(), 3u);
  EXPECT_EQ(within.parameters[0].name, "conv.weight");
  EXPECT_EQ(within.parameters[0].shape, (std::vector<int64_t>{5}));
  EXPECT_EQ(within.parameters[1].name, "conv.bias");
  EXPECT_EQ(within.parameters[2].shape, (std::vector<int64_t>{3, 11}));
  EXPECT_EQ(within.parameters[2].offset, 10);
  EXPECT_EQ(within.parameter_size, 43);
  ASSERT_EQ(within.buffers.size(), 2u);
  EXPECT_EQ(within.buffers[0].shape, (std::vector<int64_t>{6}));
  EXPECT_EQ(within.buffers[1].shape, (std::vector<int64_t>{1}));
  EXPECT_EQ(within.size, 50);
  EXPECT_EQ(within.buffer_momentum, 0.3f);

  EXPECT_EQ(layout.Within({0, layout.size}).Fingerprint(), layout.Fingerprint());
  EXPECT_EQ(layout.Within({73, 5}).parameter_size, 0);
  EXPECT_EQ(layout.Within({10, 0}).size, 0);
}

}  // namespace
}  // namespace grapevine
