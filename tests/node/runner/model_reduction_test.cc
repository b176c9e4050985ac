#include "node/runner/model_reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "tests/node/runner/carried_messages.h"

namespace grapevine {
namespace {

class Network : public testing::CarriedMessages<ModelReduction> {
 public:
  Network(Rank size, const ReplicaLayout& layout, int64_t chunk_size, uint64_t order_seed)
      : CarriedMessages(size, order_seed, [&](Rank rank, Transport* transport) {
          return std::make_unique<ModelReduction>(rank, size, &layout, transport, chunk_size);
        }) {}
};

class ModelReductionTest : public ::testing::TestWithParam<std::tuple<Rank, int64_t>> {};

TEST_P(ModelReductionTest, GivesTheMeanAndTheExactDistanceInAnyOrder) {
  const auto [nodes, chunk_size] = GetParam();
  ReplicaLayout layout;
  layout.AddParameter("w", {70});
  layout.AddBuffer("b", {13});
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    Network network(nodes, layout, chunk_size, seed);
    for (Round round : {10, 20}) {  // the second one with the first's leftovers
      std::vector<SharedVector> replicas;
      for (Rank rank = 0; rank < nodes; ++rank) {
        KeyedRandom random(seed, Purpose::kInitialization, rank, round);
        replicas.push_back(NewSharedVector(layout.size));
        for (float& value : replicas.back().span())
          value = static_cast<float>(random.Normal() + 100);
        network.at(rank).Add(round, replicas.back());
        ASSERT_TRUE(network.at(rank).BeginDue().ok());
      }
      network.RunToTheEnd();
      for (Rank rank = 0; rank < nodes; ++rank) EXPECT_TRUE(network.at(rank).idle()) << rank;
      const auto result = network.at(0).TakeAverage();
      ASSERT_TRUE(result.has_value());
      network.at(0).ReleaseAverage();
      EXPECT_EQ(result->round, round);
      double distance = 0, of_buffers = 0;
      for (int64_t i = 0; i < layout.size; ++i) {
        double mean = 0;
        for (const SharedVector& replica : replicas) mean += replica.data[i] / nodes;
        EXPECT_NEAR(result->model.data[i], mean, 2e-5);
        for (const SharedVector& replica : replicas) {
          (i < layout.parameter_size ? distance : of_buffers) +=
              std::pow(replica.data[i] - mean, 2) / nodes;
        }
      }
      EXPECT_NEAR(*result->consensus_distance, distance, 1e-5 * distance + 1e-12);
      ASSERT_TRUE(result->buffer_distance.has_value());
      EXPECT_NEAR(*result->buffer_distance, of_buffers, 1e-5 * of_buffers + 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelReductionTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 6, 13),
                                            ::testing::Values(1, 10, 70, 1000)));

TEST(ModelReduction, RankZeroGivesOutOneAverageAtATimeAndOthersGoOn) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  Network network(2, layout, 4, 1);
  for (Rank rank : {0, 1}) {
    for (Round round : {1, 2}) network.at(rank).Add(round, NewSharedVector(4));
  }
  for (Rank rank : {0, 1}) ASSERT_TRUE(network.at(rank).BeginDue().ok());
  EXPECT_TRUE(network.at(0).behind());
  EXPECT_FALSE(network.at(1).behind()) << "a leaf has sent both";
  network.RunToTheEnd();
  EXPECT_TRUE(network.at(0).idle());
  EXPECT_EQ(network.at(0).TakeAverage()->round, 1);
  ASSERT_TRUE(network.at(0).BeginDue().ok());
  EXPECT_TRUE(network.at(0).idle()) << "one average is out";
  EXPECT_TRUE(network.at(0).behind());
  EXPECT_FALSE(network.at(0).TakeAverage().has_value());
  network.at(0).ReleaseAverage();
  ASSERT_TRUE(network.at(0).BeginDue().ok());
  network.RunToTheEnd();
  EXPECT_EQ(network.at(0).TakeAverage()->round, 2);
  network.at(0).ReleaseAverage();
  EXPECT_FALSE(network.at(0).holds_model());
}

TEST(ModelReduction, ALeafWaitsForWhatItSentInAnEarlierReduction) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  Network network(2, layout, 4, 1);
  for (Round round : {1, 2, 3}) network.at(1).Add(round, NewSharedVector(4));
  ASSERT_TRUE(network.at(1).BeginDue().ok());
  const std::vector<Waiting> waiting = network.at(1).waiting_for();
  ASSERT_EQ(waiting.size(), 1);
  EXPECT_EQ(waiting[0].peer, 0);
  EXPECT_EQ(waiting[0].tag, (Tag{ModelReduction::kChannel, 1, 0}));
}

TEST(ModelReduction, AMessageThatIsNotDueIsRefusedByRank) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  Network network(2, layout, 4, 1);
  const absl::Status status = network.at(0).OnReceived(1, {ModelReduction::kChannel, 7, 0});
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("from rank 1"));
}

}  // namespace
}  // namespace grapevine
