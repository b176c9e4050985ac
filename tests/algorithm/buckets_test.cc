// Gradients that are summed in buckets while the backward pass goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/algorithm/allreduce_kinds.h"
#include "tests/algorithm/idle_host.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<float> Trained(const std::string& algorithm, Rank nodes, int64_t parameters,
                           uint64_t order_seed = 1) {
  Cluster cluster({.algorithm = algorithm,
                   .nodes = nodes,
                   .parameters = parameters,
                   .buffers = 5,
                   .learning_rate = 0.1,
                   .momentum = 0.9,
                   .order_seed = order_seed,
                   .gradient = Quadratic(1, 1, 2)});
  const absl::Status status = cluster.Run(20);
  EXPECT_TRUE(status.ok()) << algorithm << ": " << status;
  const std::span<const float> first = cluster.replica(0);
  for (Rank rank = 1; rank < nodes; ++rank) {
    EXPECT_TRUE(std::ranges::equal(cluster.replica(rank), first)) << algorithm << ", rank " << rank;
  }
  return {first.begin(), first.end()};
}

class Buckets : public ::testing::TestWithParam<std::string> {};

TEST_P(Buckets, TrainAsOneDoes) {
  for (const Rank nodes : {1, 2, 3, 7, 8}) {
    for (const int64_t parameters : {1, 3, 100}) {
      const std::vector<float> whole = Trained(GetParam(), nodes, parameters);
      for (const char* buckets : {":buckets=2", ":buckets=5", ":buckets=16"}) {
        EXPECT_THAT(Trained(GetParam() + buckets, nodes, parameters),
                    ::testing::Pointwise(::testing::FloatNear(1e-6f), whole))
            << nodes << " nodes, " << parameters << " parameters" << buckets;
      }
    }
  }
}

TEST_P(Buckets, TheOrderOfEventsChangesNoBit) {
  const std::string algorithm = GetParam() + ":buckets=4";
  const std::vector<float> expected = Trained(algorithm, 6, 50);
  for (const uint64_t seed : Seeds(18)) {
    EXPECT_EQ(Trained(algorithm, 6, 50, seed), expected) << "order seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Buckets, ::testing::ValuesIn(AllreduceKinds()),
                         [](const auto& info) { return KindName(info.param); });

TEST(BucketBits, AreThoseOfOneWhereRanksAreAddedInOneOrder) {
  for (const Rank nodes : {3, 6, 8}) {
    EXPECT_EQ(Trained("allreduce:tree:buckets=7", nodes, 100),
              Trained("allreduce:tree", nodes, 100));
  }
  EXPECT_EQ(Trained("allreduce:halving-doubling:buckets=7", 8, 100),
            Trained("allreduce:halving-doubling", 8, 100));
}

class BucketEvents : public ::testing::Test {
 protected:
  std::unique_ptr<Algorithm> Begun(const std::string& spec) {
    auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 3, 1));
    auto algorithm = *MakeAlgorithm(
        spec, {.rank = 0, .mixing = mixing, .learning_rate = [](Round) { return 0.1; }});
    EXPECT_TRUE(algorithm->On(RoundLimit{3}, host_).ok());
    EXPECT_TRUE(algorithm->On(Start{}, host_).ok());
    return algorithm;
  }
  IdleHost host_{12};
};

TEST_F(BucketEvents, ABucketLeavesAsSoonAsItIsReady) {
  auto algorithm = Begun("allreduce:buckets=3");
  EXPECT_THAT(host_.cuts, ElementsAre(8, 4));
  EXPECT_THAT(host_.sent, IsEmpty());
  ASSERT_TRUE(algorithm->On(GradientReady{0, 8}, host_).ok());
  ASSERT_EQ(host_.sent.size(), 1u);
  EXPECT_EQ(host_.sent[0].tag, (Tag{1, 0, 0}));
  // Parts may come together.
  ASSERT_TRUE(algorithm->On(GradientReady{0, 0}, host_).ok());
  ASSERT_EQ(host_.sent.size(), 3u);
  EXPECT_EQ(host_.sent[1].tag, (Tag{2, 0, 0}));
  EXPECT_EQ(host_.sent[2].tag, (Tag{3, 0, 0}));
  EXPECT_EQ(algorithm->waiting_for().size(), 3u);
}

TEST_F(BucketEvents, WhoeverAsksForNoPartsGetsNone) {
  for (const char* spec : {"allreduce", "dpsgd", "ps"}) {
    Begun(spec);
    EXPECT_THAT(host_.cuts, IsEmpty()) << spec;
  }
}

TEST_F(BucketEvents, EmptyBucketsAreAskedForNoPart) {
  Begun("allreduce:buckets=32");
  EXPECT_THAT(host_.cuts, ElementsAre(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
}

TEST_F(BucketEvents, PartsOutOfTurnAreRefused) {
  auto algorithm = Begun("allreduce:buckets=3");
  const auto error = [&](const Event& event) {
    return std::string(algorithm->On(event, host_).message());
  };
  EXPECT_THAT(error(GradientReady{1, 8}),
              HasSubstr("gradient of round 1 from element 8 on came without a request in round 0"));
  EXPECT_THAT(error(GradientReady{0, -1}), HasSubstr("without a request"));
  EXPECT_THAT(error(GradientReady{0, 12}), HasSubstr("without a request"));
  EXPECT_EQ(error(GradientReady{0, 8}), "");
  EXPECT_THAT(error(GradientReady{0, 8}), HasSubstr("without a request"));
  EXPECT_EQ(error(GradientReady{0, 0}), "");
  EXPECT_THAT(error(GradientReady{0, 0}), HasSubstr("without a request"));
  EXPECT_THAT(error(Received{2, {9, 0, 0}}), HasSubstr("rank 2 came on channel 9"));
  EXPECT_THAT(error(Sent{SendId{99}}), HasSubstr("send 99 was reported; no bucket has it"));
}

TEST(BucketSpecs, OfImpossibleNumbersAreRefused) {
  auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
  const auto error = [&](const char* spec) {
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("allreduce:buckets=0"), HasSubstr("option buckets: 0 is less than 1"));
  EXPECT_THAT(error("allreduce:tree:buckets=33"), HasSubstr("33 is more than 32"));
  EXPECT_THAT(error("allreduce:double-tree:buckets=17"), HasSubstr("17 is more than 16"));
  EXPECT_THAT(error("dpsgd:buckets=2"), HasSubstr("unknown option 'buckets'"));
}

}  // namespace
}  // namespace grapevine::testing
