// DOWNPOUR and ADAG: their rule on schedules that a test fixes, what holds in any order of events,
// and the windows at which they diverge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/quadratics.h"
#include "tests/algorithm/two_workers.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::FloatEq;
using ::testing::HasSubstr;

// Worker 0 goes from 1 over 0.9 to 0.81, and from there on in the second window; worker 1 from 1
// over 0.8 to 0.64.
TEST(Downpour, ServersAddTheSumOfAWindow) {
  TwoWorkers run("downpour:window=2", 2);
  run.Push(0);
  run.Push(1);
  EXPECT_EQ(run.stalest(), 1);
  run.Answer(0);  // 0.81
  run.Push(0);
  EXPECT_THAT(run.weights(), ::testing::ElementsAre(FloatEq(0.81f), FloatEq(0.81f - 0.36f),
                                                    FloatEq(0.45f - 0.81f * 0.19f)));
}

TEST(Adag, ServersAddAWindowsMean) {
  TwoWorkers run("adag:window=2", 2);
  run.Push(0);
  run.Push(1);
  run.Answer(0);  // 0.905
  run.Push(0);
  EXPECT_THAT(run.weights(), ::testing::ElementsAre(FloatEq(0.905f), FloatEq(0.905f - 0.18f),
                                                    FloatEq(0.725f - 0.905f * 0.095f)));
}

// Also those of a last window that the end of the budget cuts short.
TEST(AccumulatedUpdates, HaveEveryGradientInAnyOrderOfEvents) {
  const auto drawn = [](Rank rank, Round step) {
    return KeyedRandom(5, Purpose::kGradientNoise, rank, step).Normal();
  };
  for (const char* kind : {"downpour", "adag"}) {
    for (const int window : {1, 3, 8}) {
      for (const Rank servers : {1, 3}) {
        for (const uint64_t seed : Seeds(5)) {
          SCOPED_TRACE(::testing::Message() << kind << ", window " << window << ", " << servers
                                            << " servers, order seed " << seed);
          constexpr Rank kWorkers = 4;
          double sum = 0;
          Cluster cluster({.algorithm = std::string(kind) + ":window=" + std::to_string(window) +
                                        ":servers=" + std::to_string(servers),
                           .nodes = kWorkers + servers,
                           .parameters = 5,
                           .order_seed = seed,
                           .gradient = [&](Rank rank, Round step, std::span<const float>,
                                           std::span<float> gradient) {
                             std::ranges::fill(gradient, static_cast<float>(drawn(rank, step)));
                             sum += drawn(rank, step);
                           }});
          const absl::Status status = cluster.Run(20);
          ASSERT_TRUE(status.ok()) << status;
          const double expected = -0.1 * sum / (kind == std::string("adag") ? window : 1);
          for (Rank rank = kWorkers; rank < kWorkers + servers; ++rank) {
            for (const float x : cluster.replica(rank)) ASSERT_NEAR(x, expected, 1e-5);
          }
        }
      }
    }
  }
}

// Batch statistics are between the smallest and the largest of what was seen, whoever gives them
// how often.
TEST(AccumulatedUpdates, AverageBuffers) {
  for (const uint64_t seed : Seeds(5)) {
    Cluster cluster({.algorithm = "downpour:window=30:servers=2",
                     .nodes = 8,
                     .parameters = 3,
                     .buffers = 4,
                     .order_seed = seed,
                     .gradient =
                         [](Rank rank, Round, std::span<const float>, std::span<float> gradient) {
                           std::ranges::fill(gradient.first(3), 0.0f);
                           std::ranges::fill(gradient.subspan(3), rank % 2 == 0 ? 1.0f : 2.0f);
                         },
                     .at_boundary =
                         [&](Rank rank, Round, std::span<const float> model) {
                           // The second server has the buffers, and nothing else.
                           for (const float x : rank == 7 ? model : model.first(0)) {
                             EXPECT_GE(x, 0) << "order seed " << seed;
                             EXPECT_LE(x, 2) << "order seed " << seed;
                           }
                         }});
    ASSERT_TRUE(cluster.Run(150).ok());
    for (const float x : cluster.replica(7)) EXPECT_GT(x, 1) << "order seed " << seed;
  }
}

// The server's |x| after so many turns along f = x^2 / 2 at a rate of 0.05, workers exchanging in
// turn.
double Distance(const std::string& kind, Rank workers, int window, int turns) {
  double x = 1;
  Cluster cluster({.algorithm = kind + ":window=" + std::to_string(window),
                   .nodes = workers + 1,
                   .learning_rate = 0.05,
                   .initial = [](Rank, std::span<float> x) { x[0] = 1; },
                   .gradient = Quadratic(1, 0, 1),
                   .at_boundary =
                       [&](Rank rank, Round, std::span<const float> model) {
                         if (rank == workers) x = model[0];
                       }});
  EXPECT_TRUE(cluster.Begin(static_cast<Round>(turns) * window * 10).ok());
  const auto next = [&](Rank worker) -> std::optional<Cluster::Choice> {
    for (const Cluster::Choice& choice : cluster.Choices()) {
      const bool at_server = choice.node == workers && choice.kind != Cluster::Choice::Kind::kSent;
      if (at_server ? choice.from == worker : choice.node == worker || choice.node == workers) {
        return choice;
      }
    }
    return std::nullopt;
  };
  for (int turn = 0; turn < turns * workers; ++turn) {
    const Rank worker = turn % workers;
    while (const auto choice = next(worker)) {
      EXPECT_TRUE(cluster.Take(*choice).ok());
      if (choice->node == worker && choice->kind == Cluster::Choice::Kind::kMessage) break;
    }
  }
  return std::abs(x);
}

struct Windows {
  Rank workers;
  int holds, diverges;  // DOWNPOUR
};

class Divergence : public ::testing::TestWithParam<Windows> {};

TEST_P(Divergence, OfDownpourWhereAdagHolds) {
  const auto [workers, holds, diverges] = GetParam();
  EXPECT_LT(Distance("downpour", workers, holds, 100), 0.01);
  EXPECT_GT(Distance("downpour", workers, diverges, 100), 100);
  EXPECT_LT(Distance("adag", workers, diverges, 200), 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, Divergence,
                         ::testing::Values(Windows{4, 5, 20}, Windows{8, 3, 5}, Windows{16, 1, 5}));

// ADAG divides by the window, not by the workers.
TEST(Divergence, OfAdagWithManyWorkers) { EXPECT_GT(Distance("adag", 40, 5, 100), 100); }

TEST(AccumulatedUpdates, Learn) {
  for (const char* algorithm : {"downpour:window=4", "adag:window=4:servers=2"}) {
    for (const Rank nodes : {3, 5, 8}) {
      Cluster cluster({.algorithm = algorithm,
                       .nodes = nodes,
                       .parameters = 20,
                       .learning_rate = 0.02,
                       .gradient = Quadratic(1, 0, 1, [](Rank) { return 2.0; })});
      const absl::Status status = cluster.Run(2000);
      ASSERT_TRUE(status.ok()) << status;
      for (Rank rank = *WorkerCount(algorithm, nodes); rank < nodes; ++rank) {
        for (const float x : cluster.replica(rank)) {
          EXPECT_NEAR(x, 2, 1e-2) << algorithm << " of " << nodes << ", rank " << rank;
        }
      }
    }
  }
}

TEST(AccumulatedUpdates, AServersMemoryDoesNotDependOnTheNumberOfWorkers) {
  constexpr int64_t kBytes = 60 * sizeof(float);
  for (const Rank workers : {4, 32}) {
    int64_t largest = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      Cluster cluster({.algorithm = "downpour:window=2",
                       .nodes = workers + 1,
                       .parameters = 60,
                       .momentum = 0.9,
                       .order_seed = seed,
                       .gradient = Quadratic(1, 1, 1)});
      ASSERT_TRUE(cluster.Run(20).ok());
      for (Rank rank = 0; rank < workers; ++rank) {
        EXPECT_LE(cluster.vector_bytes(rank), 4 * kBytes);
      }
      largest = std::max(largest, cluster.vector_bytes(workers));
    }
    EXPECT_EQ(largest, 4 * kBytes) << workers << " workers";
  }
  EXPECT_EQ(*LargestMemory("adag:window=2", **MakeTopology("ring", 33, 1), 60, 1), 4 * 60);
}

TEST(AccumulatedUpdates, SayOfThemselvesWhatOthersNeed) {
  EXPECT_FALSE(HasRounds("downpour:window=5"));
  EXPECT_EQ(EvaluatedModelOf("adag:window=5"), EvaluatedModel::kServersWeights);
  EXPECT_EQ(*WorkerCount("adag:window=5:servers=3", 8), 5);
  EXPECT_DOUBLE_EQ(
      *MessagesPerRound("downpour:window=5", **MakeTopology("ring", 8, 1), RunLength()),
      2.0 * 7 / 5);
  EXPECT_EQ(StepRanges("adag:servers=2", 8, 10)->size(), 1u) << "workers step";
  const auto error = [](const char* spec) {
    const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("downpour:window=0"), HasSubstr("window: 0 is less than 1"));
  EXPECT_THAT(error("adag:window=5:servers=4"), HasSubstr("leave no worker"));
  EXPECT_THAT(error("adag:staleness=5"),
              HasSubstr("unknown option 'staleness'; adag knows window"));
}

}  // namespace
}  // namespace grapevine::testing
