#include "node/runner/model_broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"
#include "random/keyed_random.h"
#include "tests/node/runner/carried_messages.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

class Broadcasts : public testing::CarriedMessages<ModelBroadcast> {
 public:
  Broadcasts(Rank size, const ReplicaLayout& layout, int64_t chunk_size, uint64_t order_seed)
      : CarriedMessages(
            size, order_seed,
            [&](Rank rank, Transport* transport) {
              return std::make_unique<ModelBroadcast>(
                  std::make_unique<ModelReduction>(rank, size, &layout, transport, chunk_size),
                  rank, size, &layout, transport, chunk_size);
            }),
        size_(size) {}

  // As a runner does, after every event; `lost` is not there.
  void Settle(Rank lost = -1) {
    for (int64_t before = -1; before != messages();) {
      before = messages();
      for (Rank rank = 0; rank < size_; ++rank) {
        if (rank == lost) continue;
        ASSERT_TRUE(at(rank).BeginDue().ok()) << rank;
      }
      RunToTheEnd();
    }
  }

 private:
  const Rank size_;
};

ReplicaLayout SomeLayout() {
  ReplicaLayout layout;
  layout.AddParameter("w", {70});
  layout.AddBuffer("b", {13});
  return layout;
}

SharedVector AllOf(int64_t size, float value) {
  SharedVector vector = NewSharedVector(size);
  std::ranges::fill(vector.span(), value);
  return vector;
}

class ModelBroadcastTest : public ::testing::TestWithParam<std::tuple<Rank, int64_t>> {};

TEST_P(ModelBroadcastTest, AllHaveTheBitsOfTheLead) {
  const auto [nodes, chunk_size] = GetParam();
  const ReplicaLayout layout = SomeLayout();
  for (const uint64_t seed : testing::Seeds(3)) {
    SCOPED_TRACE(seed);
    Broadcasts network(nodes, layout, chunk_size, seed);
    // The second one with the first's leftovers, the third where another has rank 0's role.
    for (const auto& [round, lead] : {std::pair<Round, Rank>(10, 0), {20, 0}, {30, nodes / 2}}) {
      for (Rank rank = 0; rank < nodes; ++rank) {
        const SharedVector replica = NewSharedVector(layout.size);
        KeyedRandom random(seed, Purpose::kInitialization, rank, round);
        for (float& value : replica.span()) value = static_cast<float>(random.Normal());
        network.at(rank).Add({round, replica, nullptr, lead});
      }
      network.Settle();
      const auto average = network.at(lead).TakeAverage();
      ASSERT_TRUE(average.has_value());
      EXPECT_EQ(average->bytes_sent, 2 * MergeBytes(nodes, layout.size) + (nodes - 1) * 16);
      for (Rank rank = 0; rank < nodes; ++rank) {
        EXPECT_TRUE(network.at(rank).idle() && !network.at(rank).behind()) << rank;
        EXPECT_TRUE(network.at(rank).waiting_for().empty()) << rank;
        const auto told = network.at(rank).TakeTold();
        ASSERT_EQ(told.has_value(), rank != lead) << rank;
        if (!told) continue;
        EXPECT_EQ(told->round, round);
        EXPECT_TRUE(std::ranges::equal(told->model.span(), average->model.span())) << rank;
        EXPECT_EQ(told->consensus_distance, average->consensus_distance);
        EXPECT_EQ(told->buffer_distance, average->buffer_distance);
      }
      network.at(lead).ReleaseAverage();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelBroadcastTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 6, 13),
                                            ::testing::Values(1, 10, 70, 1000)));

// What is due next is held until this one is told, and what the algorithm does with it.
TEST(ModelBroadcast, OneAtATimeAlsoWhereTheLeadIsSlowToEvaluate) {
  const ReplicaLayout layout = SomeLayout();
  Broadcasts network(3, layout, 10, 1);
  for (const Round round : {1, 2, 3}) {
    for (Rank rank = 0; rank < 3; ++rank) {
      network.at(rank).Add({round, AllOf(layout.size, static_cast<float>(round))});
    }
  }
  for (const Round round : {1, 2, 3}) {
    network.Settle();
    ASSERT_TRUE(network.at(0).TakeAverage().has_value());
    for (const Rank rank : {1, 2}) {
      const auto told = network.at(rank).TakeTold();
      ASSERT_TRUE(told.has_value());
      EXPECT_EQ(told->round, round);
      EXPECT_EQ(told->model.span()[5], static_cast<float>(round));
      EXPECT_EQ(network.at(rank).behind(), round < 2) << "the next one is awaited";
      EXPECT_EQ(network.at(rank).holds_up(), round < 2);
      const std::vector<Waiting> waiting = network.at(rank).waiting_for();
      EXPECT_EQ(waiting.empty(), round == 3);
      for (const Waiting& message : waiting) EXPECT_EQ(message.peer, 0);
    }
    network.at(0).ReleaseAverage();
  }
  network.Settle();
  for (Rank rank = 0; rank < 3; ++rank) EXPECT_FALSE(network.at(rank).holds_model()) << rank;
}

// On 7 nodes rank 1 has the children 3 and 4. Who is lost before anything was put together, when
// there is no average to tell of.
TEST(ModelBroadcast, ALostNodeLeavesNothingToldAndNobodyWaiting) {
  const ReplicaLayout layout = SomeLayout();
  for (const Rank lost : {1, 3, 6}) {
    SCOPED_TRACE(lost);
    Broadcasts network(7, layout, 10, 1);
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank != lost) network.at(rank).Add({10, AllOf(layout.size, 1)});
    }
    network.Settle(lost);
    EXPECT_FALSE(network.at(0).idle());
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank == lost) continue;
      for (uint32_t step = 0; step <= 20; ++step) {
        const Tag tag{ModelAssembly::kChannel, 10, step};
        ASSERT_TRUE(network.at(rank).OnLost(lost, tag).ok());
        const bool below = rank == 2 * lost + 1 || rank == 2 * lost + 2;
        if (below) {
          ASSERT_TRUE(network.at(rank).OnUndelivered(lost, tag).ok());
        }
      }
    }
    network.Settle(lost);
    // What is sent to it meanwhile does not arrive either, and no answer comes.
    ASSERT_TRUE(network.at((lost - 1) / 2).OnLost(lost, {ModelAssembly::kChannel, 10, 20}).ok());
    for (const uint32_t step : {10u, 11u, 12u, 13u}) {
      const Tag tag{ModelAssembly::kChannel, 10, step};
      ASSERT_TRUE(network.at((lost - 1) / 2).OnUndelivered(lost, tag).ok());
    }
    network.Settle(lost);
    for (Rank rank = 0; rank < 7; ++rank) {
      if (rank == lost) continue;
      EXPECT_TRUE(network.at(rank).idle() && !network.at(rank).behind()) << rank;
      EXPECT_FALSE(network.at(rank).TakeTold().has_value()) << rank;
    }
    EXPECT_FALSE(network.at(0).TakeAverage().has_value());
    EXPECT_THAT(network.at(0).TakeVoid(), ::testing::ElementsAre(10));
    EXPECT_THAT(network.at(0).TakeVoid(), ::testing::IsEmpty());
  }
}

TEST(ModelBroadcast, TheMembersOfAViewHearItWithoutTheOthers) {
  const ReplicaLayout layout = SomeLayout();
  Broadcasts network(7, layout, 10, 1);
  const auto view = std::make_shared<const View>(View{.epoch = 3, .members = {0, 2, 5, 6}});
  for (const Rank rank : view->members) {
    network.at(rank).Add({10, AllOf(layout.size, static_cast<float>(rank)), view, 2});
  }
  network.Settle();
  ASSERT_TRUE(network.at(2).TakeAverage().has_value());
  for (const Rank rank : {0, 5, 6}) {
    const auto told = network.at(rank).TakeTold();
    ASSERT_TRUE(told.has_value()) << rank;
    EXPECT_NEAR(told->model.span()[7], 13.0 / 4, 1e-6);
  }
}

TEST(ModelBroadcast, AMessageThatIsNotDueIsRefusedByRank) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  testing::CarriedMessages<ModelBroadcast> alone(1, 1, [&](Rank, Transport* transport) {
    return std::make_unique<ModelBroadcast>(
        std::make_unique<ModelReduction>(1, 2, &layout, transport), 1, 2, &layout, transport);
  });
  ModelBroadcast& node = alone.at(0);  // rank 1 of 2
  node.Add({12, AllOf(4, 1)});
  ASSERT_TRUE(node.BeginDue().ok());
  const std::vector<Waiting> waiting = node.waiting_for();
  ASSERT_EQ(waiting.size(), 1);
  EXPECT_EQ(waiting[0].tag, (Tag{ModelAssembly::kChannel, 12, 2}));
  // Another round's, another's, or the wrong one.
  for (const Received& strange : {Received{.from = 0, .tag = {ModelAssembly::kChannel, 11, 2}},
                                  Received{.from = 1, .tag = {ModelAssembly::kChannel, 12, 2}},
                                  Received{.from = 0, .tag = {ModelAssembly::kChannel, 12, 3}}}) {
    EXPECT_THAT(std::string(node.OnReceived(strange).message()),
                ::testing::HasSubstr("came unexpectedly from rank"));
  }
}

// What a lead that computes wrongly tells of.
class GivenAverage final : public ModelAssembly {
 public:
  explicit GivenAverage(AveragedModel average) : average_(std::move(average)) {}
  bool takes_part() const override { return true; }
  void Add(Due) override {}
  absl::Status BeginDue() override { return absl::OkStatus(); }
  absl::Status OnReceived(const Received&) override { return absl::OkStatus(); }
  absl::Status OnSent(Rank, Tag) override { return absl::OkStatus(); }
  absl::Status OnLost(Rank, Tag) override { return absl::OkStatus(); }
  absl::Status OnUndelivered(Rank, Tag) override { return absl::OkStatus(); }
  std::optional<AveragedModel> TakeAverage() override {
    return std::exchange(average_, std::nullopt);
  }
  void ReleaseAverage() override {}
  std::vector<Round> TakeVoid() override { return {}; }
  bool average_out() const override { return false; }
  bool idle() const override { return true; }
  bool behind() const override { return false; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers() const override { return {}; }

 private:
  std::optional<AveragedModel> average_;
};

TEST(ModelBroadcast, ElementsThatAreNoNumbersAreNotBelieved) {
  ReplicaLayout layout;
  layout.AddParameter("w", {4});
  testing::CarriedMessages<ModelBroadcast> network(2, 1, [&](Rank rank, Transport* transport) {
    return std::make_unique<ModelBroadcast>(
        std::make_unique<GivenAverage>(
            AveragedModel{.round = 12, .model = AllOf(4, std::numeric_limits<float>::infinity())}),
        rank, 2, &layout, transport);
  });
  for (const Rank rank : {0, 1}) {
    network.at(rank).Add({12, AllOf(4, 1)});
    ASSERT_TRUE(network.at(rank).BeginDue().ok());
  }
  const absl::Status end = network.RunToAnEnd();
  EXPECT_EQ(FailureOf(end), Failure::kDiverged) << end;
  EXPECT_THAT(std::string(end.message()), ::testing::StartsWith("the model of rank 0 after round"));
  EXPECT_FALSE(network.at(1).TakeTold().has_value());
}

}  // namespace
}  // namespace grapevine
