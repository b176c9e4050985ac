// The cluster keeps what it promises of offers, declines and withdrawn posts, in any order.
#include "tests/testing/cluster.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/testing/random_trade.h"
#include "tests/testing/sightings.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 4;

TEST(Cluster, EveryPostAndEverySendEndsOnceInAnyOrder) {
  PlaySeeds(300, 100, [&](uint64_t seed, Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomTrade::Tally tally;
    std::vector<RandomTrade*> trades;
    Cluster cluster({.make_algorithm =
                         [&](const AlgorithmOptions& options) {
                           auto trade =
                               std::make_unique<RandomTrade>(options.rank, kNodes, seed, &tally);
                           trades.push_back(trade.get());
                           return trade;
                         },
                     .nodes = kNodes,
                     .parameters = 3,
                     .rounds = false,
                     .order_seed = seed,
                     .initial = [](Rank, std::span<float> x) { std::ranges::fill(x, 1.0f); },
                     .gradient = [](Rank, Round, std::span<const float>, std::span<float>) {}});
    const absl::Status status = cluster.Run(15);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(cluster.Mean(), std::vector<double>(3, 1.0)) << "what is taken is given";
    for (Rank rank = 0; rank < kNodes; ++rank) {
      EXPECT_EQ(cluster.replica(rank)[0], static_cast<float>(1 + trades[rank]->gained()));
      EXPECT_EQ(cluster.live_vectors(rank), 2u) << "its model and its unit";
      EXPECT_EQ(cluster.staleness(rank).gradients(), 15);
    }
    seen.Count("taken", tally.taken);
    seen.Count("declined", tally.declined);
    seen.Count("met", tally.met);
    seen.Count("lost", tally.lost);
  });
}

}  // namespace
}  // namespace grapevine::testing
