#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "node/runner/model_assembly.h"
#include "random/keyed_random.h"
#include "tests/node/runner/carried_messages.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using testing::CarriedMessages;

// Rank 0 and one more worker, and some servers.
constexpr Rank kWorkers = 2;

class ModelGatherTest : public ::testing::TestWithParam<std::tuple<Rank, int64_t, int64_t>> {};

TEST_P(ModelGatherTest, PutsTheShardsSideBySideInAnyOrder) {
  const auto [servers, size, chunk_size] = GetParam();
  const Rank nodes = kWorkers + servers;
  ReplicaLayout layout;
  layout.AddParameter("w", {size});
  for (const uint64_t seed : testing::Seeds(3)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    CarriedMessages<ModelGather> network(
        nodes, seed, [&, chunk_size = chunk_size](Rank rank, Transport* transport) {
          return std::make_unique<ModelGather>(rank, kWorkers, nodes, &layout, transport,
                                               chunk_size);
        });
    EXPECT_FALSE(network.at(1).takes_part());
    for (Round round : {10, 20}) {
      network.at(0).Add({round, NewSharedVector(size)});
      ASSERT_TRUE(network.at(0).BeginDue().ok());
      std::vector<float> expected;
      for (Rank index = 0; index < servers; ++index) {
        const int64_t shard = size * (index + 1) / servers - size * index / servers;
        const SharedVector weights = NewSharedVector(shard);
        for (float& value : weights.span()) {
          value = static_cast<float>(round * 1000 + static_cast<Round>(expected.size()));
          expected.push_back(value);
        }
        network.at(kWorkers + index).Add({round, weights});
        ASSERT_TRUE(network.at(kWorkers + index).BeginDue().ok());
      }
      network.RunToTheEnd();
      for (Rank rank = 0; rank < nodes; ++rank) EXPECT_TRUE(network.at(rank).idle()) << rank;
      const auto result = network.at(0).TakeAverage();
      ASSERT_TRUE(result.has_value());
      network.at(0).ReleaseAverage();
      EXPECT_EQ(result->round, round);
      EXPECT_THAT(result->model.span(), ::testing::ElementsAreArray(expected));
      EXPECT_FALSE(result->consensus_distance.has_value());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelGatherTest,
                         ::testing::Combine(::testing::Values(1, 2, 5),
                                            ::testing::Values(3, 83),  // also without a shard
                                            ::testing::Values(1, 10, 1000)));

TEST(ModelGather, NamesTheServerWhoseWeightsAreNoNumbers) {
  constexpr Rank kNodes = kWorkers + 2;
  ReplicaLayout layout;
  layout.AddParameter("w", {40});
  for (const int64_t place : {0, 19}) {
    CarriedMessages<ModelGather> network(kNodes, 1, [&](Rank rank, Transport* transport) {
      return std::make_unique<ModelGather>(rank, kWorkers, kNodes, &layout, transport, 7);
    });
    network.at(0).Add({12, NewSharedVector(40)});
    ASSERT_TRUE(network.at(0).BeginDue().ok());
    for (const Rank server : {2, 3}) {
      const SharedVector weights = NewSharedVector(20);
      std::ranges::fill(weights.span(), 1.0f);
      if (server == 3) weights.span()[place] = std::numeric_limits<float>::infinity();
      network.at(server).Add({12, weights});
      ASSERT_TRUE(network.at(server).BeginDue().ok());
    }
    const absl::Status end = network.RunToAnEnd();
    EXPECT_EQ(FailureOf(end), Failure::kDiverged) << end;
    EXPECT_THAT(std::string(end.message()),
                ::testing::StartsWith("the model of rank 3 after round 12 has NaN or infinite"));
    EXPECT_FALSE(network.at(0).TakeAverage().has_value());
  }
}

TEST(ModelGather, AChunkThatNobodyAskedForIsRefusedByName) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  CarriedMessages<ModelGather> network(3, 1, [&](Rank rank, Transport* transport) {
    return std::make_unique<ModelGather>(rank, kWorkers, 3, &layout, transport);
  });
  const absl::Status status =
      network.at(0).OnReceived({.from = 2, .tag = {ModelGather::kChannel, 7, 0}});
  EXPECT_EQ(status.message(),
            "gathering the servers' weights: chunk 0 of round 7 came unexpectedly from rank 2");
}

}  // namespace
}  // namespace grapevine
