// Elastic averaging, synchronous: against a loop over the replicas and the centre in double
// precision and by hand, and the sum that it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "tests/algorithm/local_loop.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

// The centre and the replicas pull at each other, each at the other's old value. The centre begins
// where node 0 does, if all begin at the same point.
Replicas ElasticallyAveraged(Rank nodes, int64_t every, double alpha) {
  Replicas x(nodes, RandomStarts(1)[0]);
  Replicas velocity(nodes, std::vector<double>(LocalLoop::kElements));
  std::vector<double> centre = x[0];
  for (Round round = 0; round < LocalLoop::kRounds; ++round) {
    const std::vector<double> mean = Averaged(UniformWeights(nodes), x)[0];
    const double pull = (round + 1) % every == 0 ? alpha : 0;
    for (Rank i = 0; i < nodes; ++i) {
      const std::vector<double> old = x[i];
      for (int64_t e = 0; e < LocalLoop::kElements; ++e) x[i][e] -= pull * (old[e] - centre[e]);
      LocalStep(i, old, &x[i], &velocity[i]);
    }
    for (int64_t e = 0; e < LocalLoop::kElements; ++e) {
      centre[e] = (1 - nodes * pull) * centre[e] + nodes * pull * mean[e];
    }
  }
  return x;
}

ClusterOptions FromOnePoint(const std::string& algorithm, Rank nodes) {
  ClusterOptions options = LikeLoop(algorithm, nodes);
  options.initial = [](Rank, std::span<float> x) { RandomStart(0, x); };
  return options;
}

class Easgd : public ::testing::TestWithParam<Rank> {};

TEST_P(Easgd, IsALoopOverTheReplicasAndTheCentre) {
  const Rank nodes = GetParam();
  for (const int64_t every : {1, 4, 7}) {
    const std::string period = ":every=" + std::to_string(every);
    ClusterOptions options = FromOnePoint("easgd" + period, nodes);
    options.order_seed = 100 * nodes + every;
    ExpectReplicas(options, ElasticallyAveraged(nodes, every, 0.9 / nodes), 1e-5);
    options.algorithm = "easgd:rho=0.8:tree" + period;
    ExpectReplicas(options, ElasticallyAveraged(nodes, every, 0.8 * LocalLoop::kRate), 1e-5);
    // The same machine; its local rule is the optimizer's.
    options.algorithm = "eamsgd" + period;
    ExpectReplicas(options, ElasticallyAveraged(nodes, every, 0.9 / nodes), 1e-5);
  }
}

// With a larger one the centre would overshoot, and statistics leave their range.
TEST_P(Easgd, PullsNoHarderThanToTheMean) {
  const Rank nodes = GetParam();
  ExpectReplicas(FromOnePoint("easgd:rho=1000", nodes), ElasticallyAveraged(nodes, 1, 1.0 / nodes),
                 1e-5);
}

// Without gradients, after a first step that pushes the replicas apart. A replica that was pulled
// says where the centre was.
TEST_P(Easgd, KeepsTheSumOfReplicasAndCentre) {
  const Rank nodes = GetParam();
  const double alpha = 0.9 / nodes;
  ClusterOptions options = LikeLoop("easgd", nodes);
  options.buffers = 0;
  options.initial = EqualStart;
  options.make_algorithm = [](AlgorithmOptions at) {
    at.learning_rate = [](Round round) { return round == 0 ? LocalLoop::kRate : 0.0; };
    return *MakeAlgorithm("easgd", at);
  };
  options.momentum = 0;
  std::vector<Replicas> models(LocalLoop::kRounds + 1, Replicas(nodes));
  options.at_boundary = [&](Rank rank, Round completed, std::span<const float> model) {
    models[completed][rank].assign(model.begin(), model.end());
  };
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(LocalLoop::kRounds).ok());
  std::vector<double> first;
  for (Round round = 1; round < LocalLoop::kRounds; ++round) {
    for (int64_t e = 0; e < LocalLoop::kParameters; ++e) {
      const double before = models[round][0][e], after = models[round + 1][0][e];
      double sum = (after - (1 - alpha) * before) / alpha;
      for (Rank rank = 0; rank < nodes; ++rank) sum += models[round][rank][e];
      if (round == 1) first.push_back(sum);
      EXPECT_NEAR(sum, first[e], 1e-4 * nodes) << "round " << round << ", element " << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Easgd, ::testing::Values(1, 2, 3, 5, 8));

// Two nodes from 0 with the gradients 1 and 3, a rate of 1, alpha = 0.25: -1 and -3, while the
// centre stays; then it moves to half of their mean, -2, while they are pulled to where it was.
TEST(EasgdByHand, BothUpdatesReadTheOldValues) {
  const auto after = [](Round rounds) {
    Cluster cluster(
        {.algorithm = "easgd:rho=0.25",
         .nodes = 2,
         .learning_rate = 1,
         .gradient = [](Rank rank, Round, std::span<const float>, std::span<float> gradient) {
           gradient[0] = rank == 0 ? 1.0f : 3.0f;
         }});
    EXPECT_TRUE(cluster.Run(rounds).ok());
    return std::vector<float>{cluster.replica(0)[0], cluster.replica(1)[0]};
  };
  EXPECT_THAT(after(1), ::testing::ElementsAre(-1, -3));
  // The centre is at 0 still: -1 - 1 + 0.25, -3 - 3 + 0.75.
  EXPECT_THAT(after(2), ::testing::ElementsAre(-1.75, -5.25));
  // It is at 0.5 * -2 = -1: -1.75 - 1 + 0.25 * 0.75, -5.25 - 3 + 0.25 * 4.25.
  EXPECT_THAT(after(3), ::testing::ElementsAre(-2.5625, -7.1875));
}

}  // namespace
}  // namespace grapevine::testing
