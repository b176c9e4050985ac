#include "model/data/split.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

// 10 classes, interleaved.
std::vector<uint16_t> Labels(int samples) {
  std::vector<uint16_t> labels;
  for (int i = 0; i < samples; ++i) labels.push_back(static_cast<uint16_t>(i % 10));
  return labels;
}

int Classes(const std::vector<int32_t>& shard, const std::vector<uint16_t>& labels) {
  std::set<uint16_t> classes;
  for (int32_t sample : shard) classes.insert(labels[sample]);
  return static_cast<int>(classes.size());
}

double MeanClasses(const Shards& shards, const std::vector<uint16_t>& labels) {
  double sum = 0;
  for (const auto& shard : shards) sum += Classes(shard, labels);
  return sum / static_cast<double>(shards.size());
}

TEST(ShardAmong, TheLivingHaveAllSamplesAndKeepTheirOwn) {
  const std::vector<uint16_t> labels = Labels(1003);
  for (const char* split : {"iid", "label", "dirichlet:alpha=1"}) {
    SCOPED_TRACE(split);
    const Shards shards = *SplitOverNodes(split, labels, 8, 3);
    const std::vector<Rank> living = {0, 2, 5};
    std::vector<int32_t> all;
    std::vector<size_t> taken;
    for (const Rank node : living) {
      const std::vector<int32_t> shard = ShardAmong(living, node, shards);
      const std::vector<int32_t>& own = shards[node];
      EXPECT_TRUE(std::equal(own.begin(), own.end(), shard.begin()));
      taken.push_back(shard.size() - own.size());
      all.insert(all.end(), shard.begin(), shard.end());
    }
    const auto [fewest, most] = std::ranges::minmax(taken);
    EXPECT_LE(most - fewest, 1u);
    std::ranges::sort(all);
    std::vector<int32_t> expected(labels.size());
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
}

TEST(ShardAmong, PiecesHaveFewClassesWhereShardsHave) {
  const std::vector<uint16_t> labels = Labels(1000);
  const Shards shards = *SplitOverNodes("label", labels, 5, 3);  // two classes each
  EXPECT_EQ(Classes(ShardAmong(std::vector<Rank>{0, 1, 2, 4}, 1, shards), labels), 3);
}

TEST(ShardAmong, IsTheNodesOwnWhereNobodyIsLost) {
  const Shards shards = *SplitOverNodes("iid", Labels(100), 3, 3);
  EXPECT_EQ(ShardAmong(std::vector<Rank>{0, 1, 2}, 1, shards), shards[1]);
}

class SplitTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SplitTest, GivesEverySampleToOneNodeAndEveryNodeASample) {
  const std::vector<uint16_t> labels = Labels(1003);
  for (int64_t nodes : {1, 2, 7, 16}) {
    const absl::StatusOr<Shards> shards = SplitOverNodes(GetParam(), labels, nodes, 3);
    ASSERT_TRUE(shards.ok()) << shards.status();
    ASSERT_EQ(static_cast<int64_t>(shards->size()), nodes);
    std::vector<int32_t> all;
    for (const auto& shard : *shards) {
      EXPECT_FALSE(shard.empty());
      all.insert(all.end(), shard.begin(), shard.end());
    }
    std::ranges::sort(all);
    std::vector<int32_t> expected(labels.size());
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
}

TEST_P(SplitTest, FollowsFromTheSeed) {
  const std::vector<uint16_t> labels = Labels(500);
  EXPECT_EQ(*SplitOverNodes(GetParam(), labels, 8, 3), *SplitOverNodes(GetParam(), labels, 8, 3));
  EXPECT_NE(*SplitOverNodes(GetParam(), labels, 8, 3), *SplitOverNodes(GetParam(), labels, 8, 4));
}

INSTANTIATE_TEST_SUITE_P(EverySplit, SplitTest,
                         ::testing::Values("iid", "label", "dirichlet:alpha=0.1",
                                           "dirichlet:alpha=100"),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(SplitTest, IidAndLabelShardsDifferByAtMostOne) {
  for (const char* spec : {"iid", "label"}) {
    const Shards shards = *SplitOverNodes(spec, Labels(1003), 16, 1);
    const auto [least, most] =
        std::ranges::minmax_element(shards, {}, [](const auto& shard) { return shard.size(); });
    EXPECT_LE(most->size() - least->size(), 1u);
  }
}

TEST(SplitTest, SplitsDifferInHowManyClassesANodeSees) {
  const std::vector<uint16_t> labels = Labels(10000);
  EXPECT_EQ(MeanClasses(*SplitOverNodes("iid", labels, 10, 1), labels), 10);
  EXPECT_EQ(MeanClasses(*SplitOverNodes("label", labels, 10, 1), labels), 1);
  EXPECT_EQ(MeanClasses(*SplitOverNodes("dirichlet:alpha=100", labels, 10, 1), labels), 10);
  const double few = MeanClasses(*SplitOverNodes("dirichlet:alpha=0.1", labels, 10, 1), labels);
  EXPECT_GT(few, 1.5);
  EXPECT_LT(few, 7);
}

TEST(SplitTest, ImpossibleSplitsAreRefused) {
  const auto refusal = [](const std::string& spec, int64_t nodes) {
    const absl::Status status = SplitOverNodes(spec, Labels(20), nodes, 1).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("iid", 21),
            "iid: 20 samples cannot be divided among 21 nodes; every node needs at least one");
  EXPECT_EQ(refusal("dirichlet:alpha=0.001", 20),
            "dirichlet:alpha=0.001: each of 100 draws left some of the 20 nodes without samples; "
            "use a larger alpha or fewer nodes");
  EXPECT_EQ(refusal("random", 2), "random: unknown split; known: iid, dirichlet:alpha=A, label");
  EXPECT_THAT(refusal("iid:alpha=1", 2), ::testing::HasSubstr("unknown option 'alpha'"));
  EXPECT_THAT(refusal("dirichlet:alpha=0", 2), ::testing::HasSubstr("less than"));
}

}  // namespace
}  // namespace grapevine
