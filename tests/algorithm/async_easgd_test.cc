// Asynchronous EASGD: its rule on a schedule that a test fixes, what is kept in any order of
// events, and what rho is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
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

// alpha is 0.2. Worker 0 steps to 0.9 and is pulled to 0.92, from there to 0.828; worker 1 steps
// to 0.8.
TEST(AsyncEasgd, CentreAndReplicaMoveByTheSame) {
  TwoWorkers run("easgd:async:rho=2");
  run.Push(0);
  run.Push(1);
  run.Answer(0);
  run.Push(0);
  EXPECT_THAT(run.weights(), ::testing::ElementsAre(FloatEq(1 - 0.02f), FloatEq(0.98f - 0.036f),
                                                    FloatEq(0.944f - 0.0232f)));
}

TEST(AsyncEasgd, KeepsTheSumOfReplicasAndCentreInAnyOrderOfEvents) {
  constexpr Rank kWorkers = 4;
  constexpr int64_t kElements = 7;
  for (const char* algorithm : {"easgd:async", "easgd:async:every=3:rho=4"}) {
    for (const Rank servers : {1, 2, 3}) {
      for (const uint64_t seed : Seeds(10)) {
        SCOPED_TRACE(::testing::Message()
                     << algorithm << ", " << servers << " servers, order seed " << seed);
        Cluster cluster(
            {.algorithm = std::string(algorithm) + ":servers=" + std::to_string(servers),
             .nodes = kWorkers + servers,
             .parameters = 5,
             .buffers = 2,
             .order_seed = seed,
             .initial = RandomStart,
             .gradient = [](Rank, Round, std::span<const float> x, std::span<float> gradient) {
               std::ranges::fill(gradient.first(5), 0.0f);
               std::ranges::copy(x.subspan(5), gradient.begin() + 5);
             }});
        const absl::Status status = cluster.Run(20);
        ASSERT_TRUE(status.ok()) << status;
        std::vector<double> sum(kElements), start(kElements);
        for (Rank rank = 0; rank < kWorkers + servers; ++rank) {
          std::vector<float> began(kElements);
          RandomStart(rank, began);
          const Rank server = rank - kWorkers;
          const int64_t begin = server < 0 ? 0 : kElements * server / servers;
          const std::span<const float> model = cluster.replica(rank);
          for (size_t i = 0; i < model.size(); ++i) {
            sum[begin + i] += model[i];
            start[begin + i] += began[begin + i];
          }
        }
        EXPECT_THAT(sum, ::testing::Pointwise(::testing::DoubleNear(1e-5), start));
      }
    }
  }
}

TEST(AsyncEasgd, ASmallRhoLetsWorkersExplore) {
  const auto distance = [](const char* rho) {
    Cluster cluster({.algorithm = std::string("eamsgd:async:rho=") + rho,
                     .nodes = 5,
                     .parameters = 5,
                     .learning_rate = 0.02,
                     .momentum = 0.9,
                     .gradient = Quadratic(1, 0, 1, UnlikeOptimum)});
    EXPECT_TRUE(cluster.Run(500).ok());
    return cluster.ConsensusDistance();
  };
  EXPECT_GT(distance("0.5"), 2 * distance("10"));
}

TEST(AsyncEasgd, Learns) {
  for (const char* algorithm : {"easgd:async", "easgd:async:every=3:servers=2"}) {
    for (const Rank nodes : {3, 5, 8}) {
      Cluster cluster({.algorithm = algorithm,
                       .nodes = nodes,
                       .parameters = 20,
                       .learning_rate = 0.05,
                       .gradient = Quadratic(1, 0, 1, [](Rank) { return 2.0; })});
      const absl::Status status = cluster.Run(600);
      ASSERT_TRUE(status.ok()) << status;
      for (Rank rank = 0; rank < nodes; ++rank) {
        for (const float x : cluster.replica(rank)) {
          EXPECT_NEAR(x, 2, 1e-2) << algorithm << " of " << nodes << ", rank " << rank;
        }
      }
    }
  }
}

TEST(AsyncEasgd, AServersMemoryDoesNotDependOnTheNumberOfWorkers) {
  constexpr int64_t kBytes = 60 * sizeof(float);
  for (const Rank workers : {4, 32}) {
    int64_t largest = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      Cluster cluster({.algorithm = "easgd:async:every=2",
                       .nodes = workers + 1,
                       .parameters = 60,
                       .momentum = 0.9,
                       .order_seed = seed,
                       .gradient = Quadratic(1, 1, 1)});
      ASSERT_TRUE(cluster.Run(20).ok());
      for (Rank rank = 0; rank < workers; ++rank) {
        EXPECT_LE(cluster.vector_bytes(rank), 3 * kBytes);
      }
      largest = std::max(largest, cluster.vector_bytes(workers));
    }
    EXPECT_EQ(largest, 5 * kBytes) << workers << " workers";
  }
}

TEST(AsyncEasgd, SaysOfItselfWhatOthersNeed) {
  EXPECT_FALSE(HasRounds("easgd:async:every=5"));
  EXPECT_TRUE(HasRounds("easgd:every=5"));
  EXPECT_EQ(EvaluatedModelOf("eamsgd:async"), EvaluatedModel::kServersWeights) << "the centre";
  EXPECT_EQ(EvaluatedModelOf("eamsgd"), EvaluatedModel::kWorkersMean);
  EXPECT_EQ(*WorkerCount("easgd:async:servers=3", 8), 5);
  EXPECT_EQ(*WorkerCount("easgd", 8), 8);
  const auto error = [](const char* spec) {
    const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("easgd:async:servers=4"), HasSubstr("leave no worker"));
  EXPECT_THAT(error("easgd:async:tree"), HasSubstr("unexpected 'tree'"));
  EXPECT_THAT(error("easgd:async:rho=-1"), HasSubstr("rho"));
}

}  // namespace
}  // namespace grapevine::testing
