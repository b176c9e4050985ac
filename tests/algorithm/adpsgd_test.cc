// AD-PSGD: its rule on schedules that a test fixes, what is kept in any order of events, and what
// it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/idle_host.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

using Kind = Cluster::Choice::Kind;

// Two nodes at 1 and 5 that each do one step along a gradient of 2 at the rate 0.1.
class TwoNodes : public ::testing::Test {
 protected:
  TwoNodes()
      : cluster_({.algorithm = "adpsgd",
                  .nodes = 2,
                  .learning_rate = 0.1,
                  .initial = [](Rank rank, std::span<float> x) { x[0] = rank == 0 ? 1 : 5; },
                  .gradient = [](Rank, Round, std::span<const float>,
                                 std::span<float> gradient) { gradient[0] = 2; }}) {
    EXPECT_TRUE(cluster_.Begin(1).ok());
  }

  // `step`: of a message, 0 for a share, 1 for an answer.
  void Take(Kind kind, Rank node, uint32_t step = 0) {
    for (const Cluster::Choice& choice : cluster_.Choices()) {
      if (choice.kind != kind || choice.node != node || choice.tag.step != step) continue;
      const absl::Status status = cluster_.Take(choice);
      ASSERT_TRUE(status.ok()) << status;
      return;
    }
    FAIL() << "nothing of kind " << static_cast<int>(kind) << " can happen at " << node;
  }
  // That wait for an answer at the node.
  int64_t Offers(Rank node) const {
    const auto choices = cluster_.Choices();
    return std::ranges::count_if(choices, [node](const Cluster::Choice& choice) {
      return choice.kind == Kind::kOffer && choice.node == node;
    });
  }
  // Both offer; node 0 joins the average of node 1, and its next gradient is ready.
  void JoinAndStep() {
    ASSERT_TRUE(cluster_.Begin(4).ok());
    for (const Rank node : {0, 1}) Take(Kind::kGradient, node);
    for (const Rank node : {1, 0}) Take(Kind::kOffer, node);
    Take(Kind::kSent, 0);  // node 1 has declined
    Take(Kind::kLoss, 0, 1);
    Take(Kind::kLimit, 0);
    Take(Kind::kGradient, 0);
  }
  // What is left to happen changes no replica.
  void Finish() {
    const absl::Status status = cluster_.Run(1);
    ASSERT_TRUE(status.ok()) << status;
  }
  float At(Rank rank) const { return cluster_.replica(rank)[0]; }

  Cluster cluster_;
};

// Node 0 steps to 0.8 and averages with node 1 while that computes its gradient: both are at 2.9
// then. Node 1 steps to 2.7, and its average takes both to 2.8.
TEST_F(TwoNodes, BothEndInTheMiddleOfTheirShares) {
  Take(Kind::kGradient, 0);
  Take(Kind::kOffer, 1);
  Take(Kind::kMessage, 1);
  Take(Kind::kMessage, 0, 1);
  Take(Kind::kGradient, 1);
  Take(Kind::kOffer, 0);
  Take(Kind::kMessage, 0);
  Take(Kind::kMessage, 1, 1);
  Finish();
  EXPECT_FLOAT_EQ(At(0), 2.8f);
  EXPECT_EQ(At(0), At(1)) << "to the bit";
  EXPECT_EQ(cluster_.staleness(0).greatest(), 0);
  EXPECT_EQ(cluster_.staleness(1).greatest(), 1) << "the average that moved it meanwhile";
}

// Node 1, the higher rank, wants no share while its own is with node 0. One average does for both.
TEST_F(TwoNodes, AveragesThatCrossAreOne) {
  Take(Kind::kGradient, 0);
  Take(Kind::kGradient, 1);
  for (const Rank node : {1, 0}) Take(Kind::kOffer, node);
  Take(Kind::kMessage, 0);
  Take(Kind::kMessage, 1, 1);
  Finish();
  EXPECT_FLOAT_EQ(At(0), 2.8f);
  EXPECT_EQ(At(0), At(1)) << "to the bit";
  for (const Rank node : {0, 1}) EXPECT_EQ(cluster_.bytes_sent(node), 4);
}

// The lower rank has joined the average of the higher one, and does not run ahead of it: its next
// one waits until that is over.
TEST_F(TwoNodes, WhoHasJoinedAnAverageWaitsForItsEnd) {
  JoinAndStep();
  EXPECT_EQ(Offers(1), 0);
  Take(Kind::kMessage, 0);
  EXPECT_EQ(Offers(1), 0) << "its answer is on its way";
  Take(Kind::kMessage, 1, 1);
  for (const char* hears : {"that it has left", "of its receipt"}) {
    EXPECT_EQ(Offers(1), 0) << hears;
    Take(Kind::kSent, 0);
  }
  EXPECT_EQ(Offers(1), 1);
}

// It was that average alone that it has joined, not the next one of the same node.
TEST_F(TwoNodes, WhoHasJoinedAnAverageWaitsForNoLaterOne) {
  JoinAndStep();
  Take(Kind::kMessage, 0);
  Take(Kind::kMessage, 1, 1);
  // Node 1 has its answer, ends its average and begins the next one.
  for (int hears = 0; hears < 2; ++hears) Take(Kind::kSent, 1);
  Take(Kind::kLimit, 1);
  Take(Kind::kGradient, 1);
  Take(Kind::kOffer, 0);
  EXPECT_EQ(Offers(1), 0) << "its answer is on its way";
  for (int hears = 0; hears < 2; ++hears) Take(Kind::kSent, 0);
  EXPECT_EQ(Offers(1), 1);
}

// Whatever is under way, shares are taken and given: the mean moves by gradients alone.
TEST(Adpsgd, KeepsTheMeanInAnyOrderOfEvents) {
  constexpr double kRate = 0.1;
  constexpr Round kRounds = 10;
  for (const char* algorithm : {"adpsgd", "adpsgd:every=3"}) {
    for (const char* graph : {"ring", "star", "complete"}) {
      for (const Rank n : {1, 2, 3, 5, 8}) {
        for (const uint64_t seed : Seeds(10)) {
          SCOPED_TRACE(::testing::Message()
                       << algorithm << " on " << graph << " of " << n << ", order seed " << seed);
          double gradients = 0;
          int64_t count = 0;
          Cluster cluster({.algorithm = algorithm,
                           .topology = graph,
                           .nodes = n,
                           .learning_rate = kRate,
                           .order_seed = seed,
                           .initial = RandomStart,
                           .gradient = [&](Rank rank, Round step, std::span<const float>,
                                           std::span<float> gradient) {
                             KeyedRandom random(seed, Purpose::kGradientNoise, rank, step);
                             gradient[0] = static_cast<float>(random.Normal());
                             gradients += gradient[0];
                             ++count;
                           }});
          ASSERT_TRUE(cluster.Run(0).ok());
          const double start = cluster.Mean()[0];
          const absl::Status status = cluster.Run(kRounds);
          ASSERT_TRUE(status.ok()) << status;
          EXPECT_EQ(count, kRounds * n);
          EXPECT_NEAR(cluster.Mean()[0], start - kRate * gradients / n, 1e-5);
        }
      }
    }
  }
}

// A replica that each step moves by 1 is, after a step, where its node believed the run to be
// before it, and 1: the one's mean is kept, and so is the other's, the steps of a node.
TEST(Adpsgd, TheRateIsThatOfANominalRoundWhichIsAveragedAsReplicasAre) {
  constexpr Rank kNodes = 5;
  for (const char* algorithm : {"adpsgd", "adpsgd:every=3"}) {
    for (const uint64_t seed : Seeds(20)) {
      SCOPED_TRACE(::testing::Message() << algorithm << ", order seed " << seed);
      std::vector<Round> rounds(kNodes);
      Round off = 0;
      float wrong = 0;
      Cluster cluster({.make_algorithm =
                           [&](AlgorithmOptions options) {
                             Round& believed = rounds[options.rank];
                             options.learning_rate = [&believed](Round round) {
                               believed = round;
                               return 1;
                             };
                             return *MakeAlgorithm(algorithm, options);
                           },
                       .nodes = kNodes,
                       .rounds = false,
                       .order_seed = seed,
                       .gradient = [](Rank, Round, std::span<const float>,
                                      std::span<float> gradient) { gradient[0] = -1; },
                       .at_boundary =
                           [&](Rank rank, Round step, std::span<const float> x) {
                             const float believed = static_cast<float>(rounds[rank]);
                             const float before = std::max(x[0] - 1, 0.0f);
                             wrong = std::max(wrong, std::abs(before - 0.5f - believed));
                             off = std::max(off, std::abs(rounds[rank] - (step - 1)));
                           }});
      const absl::Status status = cluster.Run(40);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_NEAR(cluster.Mean()[0], 40, 1e-4);
      EXPECT_LT(wrong, 0.501f) << "whole rounds";
      EXPECT_GT(off, 0) << "nodes do unequal numbers of steps";
    }
  }
}

// Those who are left do more steps each: the round that they take the run to be in stays that of
// all.
TEST(Adpsgd, TheNominalRoundGoesToTheEndOfTheRunWhoeverIsLost) {
  constexpr Rank kNodes = 6;
  constexpr Round kRounds = 200;
  for (const uint64_t seed : Seeds(20)) {
    SCOPED_TRACE(::testing::Message() << "order seed " << seed);
    std::map<Round, int> steps;  // by the nominal round
    ClusterOptions options{.algorithm = "adpsgd",
                           .topology = "complete",
                           .nodes = kNodes,
                           .length = {.rounds = kRounds},
                           .order_seed = seed,
                           .gradient = [](Rank, Round, auto, auto gradient) { gradient[0] = 0; },
                           .resilient = true};
    options.make_algorithm = [&](AlgorithmOptions node) {
      node.learning_rate = [&](Round round) {
        ++steps[round];
        return 0;
      };
      return *MakeAlgorithm("adpsgd", node);
    };
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Begin(kRounds).ok());
    KeyedRandom random(seed, Purpose::kTopology);
    for (int event = 0; event < 2000; ++event) {
      if (event % 600 == 500) cluster.Kill(event / 600 * 2);
      const auto all = cluster.Choices();
      ASSERT_TRUE(cluster.Take(all[random.Below(all.size())]).ok());
    }
    const absl::Status status = cluster.Run(kRounds);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(cluster.view().size(), 3);
    EXPECT_NEAR(static_cast<double>(steps.rbegin()->first), kRounds, 12);
    for (Round from = 0; from + 20 <= kRounds - 20; from += 20) {
      int in_20_rounds = 0;
      for (Round round = from; round < from + 20; ++round) in_20_rounds += steps[round];
      EXPECT_NEAR(in_20_rounds, 20 * kNodes, 40) << "from round " << from;
    }
  }
}

TEST(Adpsgd, AllNodesLearnAndAgree) {
  for (const char* algorithm : {"adpsgd", "adpsgd:every=4"}) {
    for (const uint64_t seed : Seeds(5)) {
      SCOPED_TRACE(::testing::Message() << algorithm << ", order seed " << seed);
      Cluster cluster({.algorithm = algorithm,
                       .nodes = 8,
                       .parameters = 4,
                       .learning_rate = 0.1,
                       .order_seed = seed,
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 0, 1)});
      ASSERT_TRUE(cluster.Run(200).ok());
      for (Rank rank = 0; rank < 8; ++rank) {
        for (const float x : cluster.replica(rank)) EXPECT_NEAR(x, 0, 1e-3) << "rank " << rank;
      }
    }
  }
}

TEST(Adpsgd, RefusesWhatItCannotUse) {
  const auto error = [](const char* spec, const char* graph) {
    const auto mixing = *MakeMixing("metropolis", *MakeTopology(graph, 4, 1));
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("adpsgd", "exponential"), HasSubstr("needs a graph whose edges go both ways"));
  EXPECT_THAT(error("adpsgd", "random-matching"), HasSubstr("changes with the round"));
  EXPECT_THAT(error("adpsgd:every=0", "ring"), HasSubstr("every"));
  EXPECT_THAT(error("adpsgd:order=atc", "ring"), HasSubstr("unknown option 'order'"));
}

// What a peer may not say, at rank 0 of a path of three, whose only neighbour is rank 1.
class Peer : public ::testing::Test {
 protected:
  Peer() : mixing_(*MakeMixing("metropolis", *MakeTopology("path", 3, 1))), node_(Node(0)) {}

  std::unique_ptr<Algorithm> Node(Rank rank) {
    auto node = *MakeAlgorithm("adpsgd", {.rank = rank,
                                          .mixing = mixing_,
                                          .learning_rate = [](Round) { return 0.1; },
                                          .length = {.rounds = 10}});
    EXPECT_TRUE(node->On(Start{}, host_).ok());
    return node;
  }
  std::string Refusal(const Event& event) { return std::string(node_->On(event, host_).message()); }

  static constexpr Tag kShare{.channel = 0, .index = 7, .step = 0};
  std::shared_ptr<const Mixing> mixing_;
  IdleHost host_{4};
  std::unique_ptr<Algorithm> node_;
};

TEST_F(Peer, AsksOneAverageAtATime) {
  EXPECT_EQ(Refusal(Offered{.from = 1, .tag = kShare, .bytes = 16}), "");
  EXPECT_THAT(Refusal(Offered{.from = 1, .tag = {.index = 8}, .bytes = 16}),
              HasSubstr("rank 1 offered channel 0, index 8, step 0, which begins no average, or a "
                        "second one"));
}

// Its answer may still be waiting for the neighbour's post: a second one would have the same tag.
TEST_F(Peer, DoesNotRepeatAnAverage) {
  EXPECT_EQ(Refusal(Offered{.from = 1, .tag = kShare, .bytes = 16}), "");
  EXPECT_EQ(Refusal(Received{.from = 1, .tag = kShare, .bytes = 16}), "");
  for (const int64_t index : {7, 6}) {
    EXPECT_THAT(Refusal(Offered{.from = 1, .tag = {.index = index}, .bytes = 16}),
                HasSubstr("which is not after its average 7"));
  }
  EXPECT_EQ(Refusal(Offered{.from = 1, .tag = {.index = 8}, .bytes = 16}), "");
}

TEST_F(Peer, IsANeighbourAndSaysWhatItMeans) {
  EXPECT_THAT(Refusal(Offered{.from = 2, .tag = kShare, .bytes = 16}),
              HasSubstr("rank 2 offered channel 0, index 7, step 0, but is no neighbour"));
  EXPECT_THAT(Refusal(Offered{.from = 1, .tag = {.index = 7, .step = 1}, .bytes = 16}),
              HasSubstr("which begins no average"));
  EXPECT_THAT(Refusal(Received{.from = 1, .tag = kShare, .bytes = 16}),
              HasSubstr("came without a post in step 0"));
  EXPECT_THAT(Refusal(Sent{{99}}), HasSubstr("send 99 was reported in step 0"));
  EXPECT_THAT(Refusal(Lost{.from = 1, .tag = kShare}), HasSubstr("was lost, but is not awaited"));
}

// Three nodes do 30 steps in ten rounds; nobody can be further than if it had done all.
TEST_F(Peer, IsSomewhereInTheRun) {
  const auto share = [](double nominal) {
    return Received{.from = 1, .tag = kShare, .bytes = 16, .note = {.weight = nominal}};
  };
  EXPECT_EQ(Refusal(Offered{.from = 1, .tag = kShare, .bytes = 16}), "");
  for (const auto& [nominal, text] : std::vector<std::pair<double, std::string>>{
           {-1e300, "-1e+300"}, {31, "31"}, {-31, "-31"}, {std::nan(""), "nan"}}) {
    EXPECT_EQ(Refusal(share(nominal)),
              "rank 1 says that the run is in round " + text + "; its nodes take 30 steps in all");
  }
  EXPECT_EQ(Refusal(share(30)), "");
}

// Averages that overlap may leave what was averaged. The neighbour would take this node for the one
// that lies.
TEST_F(Peer, MakesNobodyLie) {
  for (const double end : {30.0, -30.0}) {
    node_ = Node(0);
    host_ = IdleHost(4);
    EXPECT_EQ(Refusal(RoundLimit{1}), "");
    EXPECT_EQ(Refusal(GradientReady{0}), "");
    for (const int64_t index : {7, 8, 9}) {
      if (index == 9) {
        EXPECT_EQ(
            Refusal(Received{
                .from = 1, .tag = {.index = 0, .step = 1}, .bytes = 16, .note = {.weight = end}}),
            "");
      }
      EXPECT_EQ(Refusal(Offered{.from = 1, .tag = {.index = index}, .bytes = 16}), "");
      EXPECT_EQ(Refusal(Received{
                    .from = 1, .tag = {.index = index}, .bytes = 16, .note = {.weight = end}}),
                "");
      EXPECT_EQ(Refusal(Sent{IdleHost::IdOf(host_.sent.size() - 1)}), "");
    }
    EXPECT_EQ(host_.notes.back().weight, end);
  }
}

// By a peer of a higher rank, which averages with this one already, or by one whose members change.
TEST_F(Peer, MayDecline) {
  for (const Rank rank : {0, 2}) {
    node_ = Node(rank);
    host_ = IdleHost(4);
    EXPECT_EQ(Refusal(RoundLimit{1}), "");
    EXPECT_EQ(Refusal(GradientReady{0}), "");
    ASSERT_EQ(host_.offered.size(), 1u);
    EXPECT_EQ(Refusal(Sent{IdleHost::IdOf(0), false}), "");
    EXPECT_EQ(Refusal(Lost{.from = 1, .tag = {.index = 0, .step = 1}}), "");
    EXPECT_THAT(Refusal(Received{.from = 1, .tag = {.index = 0, .step = 1}, .bytes = 16}),
                HasSubstr("came without a post"))
        << "of an average that is over";
  }
}

// As it does when it is lost: what it has answered is not taken, or is, but not twice.
TEST_F(Peer, MayBeLostAtAnyPointOfAnAverage) {
  const Tag answer{.index = 0, .step = 1};
  const Event undelivered = Sent{IdleHost::IdOf(0), false}, delivered = Sent{IdleHost::IdOf(0)};
  const Event received = Received{.from = 1, .tag = answer, .bytes = 16};
  const Event lost = Lost{.from = 1, .tag = answer};
  for (const auto& [first, second] :
       std::vector<std::pair<Event, Event>>{{undelivered, lost},
                                            {lost, undelivered},
                                            {delivered, lost},
                                            {lost, delivered},
                                            {undelivered, received},
                                            {received, undelivered}}) {
    node_ = Node(0);
    host_ = IdleHost(4);
    EXPECT_EQ(Refusal(RoundLimit{1}), "");
    EXPECT_EQ(Refusal(GradientReady{0}), "");
    EXPECT_EQ(Refusal(first), "");
    EXPECT_EQ(node_->waiting_for().size(), 1u);
    EXPECT_EQ(Refusal(second), "");
    EXPECT_EQ(node_->waiting_for().size(), 0u);
    EXPECT_NE(Refusal(second), "") << "a second time";
  }
}

}  // namespace
}  // namespace grapevine::testing
