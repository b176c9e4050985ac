#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "node/runner/model_assembly.h"
#include "random/keyed_random.h"
#include "tests/node/runner/carried_messages.h"
#include "tests/testing/seeds.h"

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
  for (const uint64_t seed : testing::Seeds(3)) {
    SCOPED_TRACE(seed);
    Network network(nodes, layout, chunk_size, seed);
    // The second one with the first's leftovers, the third where another has rank 0's role.
    for (const auto& [round, lead] : {std::pair<Round, Rank>(10, 0), {20, 0}, {30, nodes / 2}}) {
      std::vector<SharedVector> replicas;
      for (Rank rank = 0; rank < nodes; ++rank) {
        KeyedRandom random(seed, Purpose::kInitialization, rank, round);
        replicas.push_back(NewSharedVector(layout.size));
        for (float& value : replicas.back().span())
          value = static_cast<float>(random.Normal() + 100);
        network.at(rank).Add({round, replicas.back(), nullptr, lead});
        ASSERT_TRUE(network.at(rank).BeginDue().ok());
      }
      network.RunToTheEnd();
      for (Rank rank = 0; rank < nodes; ++rank) EXPECT_TRUE(network.at(rank).idle()) << rank;
      const auto result = network.at(lead).TakeAverage();
      ASSERT_TRUE(result.has_value());
      network.at(lead).ReleaseAverage();
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

// Before the mean of anybody has it.
TEST(ModelReduction, NamesTheRankWhoseModelHasElementsThatAreNoNumbers) {
  ReplicaLayout layout;
  layout.AddParameter("w", {70});
  layout.AddBuffer("b", {13});
  constexpr Rank kNodes = 6;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (Rank culprit = 0; culprit < kNodes; ++culprit) {
      for (const int64_t place : {0, 69, 82}) {
        SCOPED_TRACE(::testing::Message() << bad << " at " << place << " of rank " << culprit);
        Network network(kNodes, layout, 10, static_cast<uint64_t>(culprit) + 1);
        for (Rank rank = 0; rank < kNodes; ++rank) {
          const SharedVector model = NewSharedVector(layout.size);
          std::ranges::fill(model.span(), 1.0f);
          if (rank == culprit) model.span()[place] = bad;
          network.at(rank).Add({12, model});
          ASSERT_TRUE(network.at(rank).BeginDue().ok());
        }
        const absl::Status end = network.RunToAnEnd();
        EXPECT_EQ(FailureOf(end), Failure::kDiverged) << end;
        EXPECT_THAT(std::string(end.message()),
                    ::testing::StartsWith("the model of rank " + std::to_string(culprit) +
                                          " after round 12 has NaN or infinite elements"));
        EXPECT_FALSE(network.at(0).TakeAverage().has_value());
      }
    }
  }
}

SharedVector Filled(int64_t size, float value) {
  SharedVector vector = NewSharedVector(size);
  std::ranges::fill(vector.span(), value);
  return vector;
}

TEST(ModelReduction, RankZeroGivesOutOneAverageAtATimeAndOthersGoOn) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  Network network(2, layout, 4, 1);
  for (Rank rank : {0, 1}) {
    for (Round round : {1, 2}) network.at(rank).Add({round, Filled(4, 1)});
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
  for (Round round : {1, 2, 3}) network.at(1).Add({round, Filled(4, 1)});
  ASSERT_TRUE(network.at(1).BeginDue().ok());
  const std::vector<Waiting> waiting = network.at(1).waiting_for();
  ASSERT_EQ(waiting.size(), 1);
  EXPECT_EQ(waiting[0].peer, 0);
  EXPECT_EQ(waiting[0].tag, (Tag{ModelReduction::kChannel, 1, 0}));
}

// On 7 nodes rank 1 passes on what ranks 3 and 4 send; it is lost in the middle.
TEST(ModelReduction, ALostNodeLeavesNoAverageAndNobodyWaiting) {
  ReplicaLayout layout;
  layout.AddParameter("w", {8});
  for (const Rank lost : {1, 3, 6}) {
    SCOPED_TRACE(lost);
    Network network(7, layout, 1, 1);
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank == lost) continue;
      network.at(rank).Add({10, Filled(8, static_cast<float>(rank))});
      ASSERT_TRUE(network.at(rank).BeginDue().ok());
    }
    network.RunToTheEnd();
    EXPECT_FALSE(network.at(0).idle());
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank == lost) continue;
      for (uint32_t message = 0; message < 9; ++message) {
        const Tag tag{ModelReduction::kChannel, 10, message};
        ASSERT_TRUE(network.at(rank).OnLost(lost, tag).ok());
        if (rank == 2 * lost + 1 || rank == 2 * lost + 2) {
          ASSERT_TRUE(network.at(rank).OnUndelivered(lost, tag).ok());
        }
      }
    }
    network.RunToTheEnd();
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank == lost) continue;
      EXPECT_TRUE(network.at(rank).idle()) << rank;
    }
    EXPECT_FALSE(network.at(0).TakeAverage().has_value());
    EXPECT_THAT(network.at(0).TakeVoid(), ::testing::ElementsAre(10));
    EXPECT_THAT(network.at(0).TakeVoid(), ::testing::IsEmpty());
  }
}

// Also of the round that was begun with those who are lost.
TEST(ModelReduction, TheMembersOfAViewAverageWithoutTheOthers) {
  ReplicaLayout layout;
  layout.AddParameter("w", {8});
  Network network(7, layout, 3, 1);
  const auto view = std::make_shared<const View>(View{.epoch = 3, .members = {0, 2, 5, 6}});
  for (const Rank rank : view->members) {
    network.at(rank).Add({10, Filled(8, static_cast<float>(rank)), view});
    ASSERT_TRUE(network.at(rank).BeginDue().ok());
  }
  network.RunToTheEnd();
  const auto average = network.at(0).TakeAverage();
  ASSERT_TRUE(average.has_value());
  EXPECT_NEAR(average->model.span()[7], 13.0 / 4, 1e-6);
  EXPECT_NEAR(*average->consensus_distance, 8 * (65.0 / 4 - 169.0 / 16), 1e-4);
  for (const Rank rank : view->members) EXPECT_TRUE(network.at(rank).idle()) << rank;
}

TEST(ModelReduction, AMessageThatIsNotDueIsRefusedByRank) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  Network network(2, layout, 4, 1);
  const absl::Status status =
      network.at(0).OnReceived({.from = 1, .tag = {ModelReduction::kChannel, 7, 0}});
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("from rank 1"));
}

}  // namespace
}  // namespace grapevine
