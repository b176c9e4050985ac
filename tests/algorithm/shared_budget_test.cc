// Nodes that share a budget of gradients, in any order of events.
#include <gtest/gtest.h>

#include <vector>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"

namespace grapevine::testing {
namespace {

// How many gradients each node computes.
class Counted {
 public:
  Counted(Rank nodes, uint64_t order_seed)
      : gradients(nodes),
        cluster({.algorithm = "solo",
                 .nodes = nodes,
                 .parameters = 3,
                 .order_seed = order_seed,
                 .gradient = [this, quadratic = Quadratic(1, 0, 1)](Rank rank, Round step,
                                                                    std::span<const float> x,
                                                                    std::span<float> gradient) {
                   EXPECT_EQ(step, gradients[rank]++);
                   quadratic(rank, step, x, gradient);
                 }}) {}

  int64_t all() const {
    int64_t sum = 0;
    for (const int64_t own : gradients) sum += own;
    return sum;
  }

  std::vector<int64_t> gradients;
  Cluster cluster;
};

TEST(SharedBudget, IsUsedUpExactlyInAnyOrderOfEvents) {
  constexpr Round kRounds = 40;
  for (const Rank n : {1, 2, 3, 5, 8}) {
    for (const uint64_t seed : Seeds(20)) {
      SCOPED_TRACE(::testing::Message() << "n = " << n << ", order seed " << seed);
      Counted run(n, seed);
      const absl::Status status = run.cluster.Run(kRounds);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(run.all(), kRounds * n);
      for (Rank rank = 0; rank < n; ++rank) {
        EXPECT_TRUE(run.cluster.resting(rank));
        EXPECT_EQ(run.cluster.algorithm(rank).round(), run.gradients[rank]);
      }
    }
  }
}

TEST(SharedBudget, IsNotSharedEqually) {
  Counted run(4, 1);
  ASSERT_TRUE(run.cluster.Run(200).ok());
  EXPECT_NE(run.gradients, std::vector<int64_t>(4, 200)) << "order seed 1";
}

TEST(SharedBudget, GoesOnWhenTheEndMoves) {
  for (const uint64_t seed : Seeds(20)) {
    Counted run(3, seed);
    int64_t before = 0;
    for (const Round rounds : {0, 1, 5, 5, 30}) {
      ASSERT_TRUE(run.cluster.Run(rounds).ok()) << "order seed " << seed;
      EXPECT_EQ(run.all(), rounds * 3) << "order seed " << seed;
      EXPECT_GE(run.all(), std::exchange(before, run.all()));
    }
  }
}

}  // namespace
}  // namespace grapevine::testing
