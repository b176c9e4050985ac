// The ladder's edges; what all topologies promise is in //tests/topology:topology_contract,
// which this test links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "topology/topology.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

TEST(Ladder, JoinsTwoPathsByRungs) {
  const auto ladder = *MakeTopology("ladder", 8, 1);
  const auto neighbours = [&](Rank rank) {
    std::vector<Rank> ranks;
    ladder->InNeighbours(rank, 0, &ranks);
    return ranks;
  };
  EXPECT_THAT(neighbours(0), ElementsAre(1, 4));
  EXPECT_THAT(neighbours(2), ElementsAre(1, 3, 6));
  EXPECT_THAT(neighbours(4), ElementsAre(0, 5));
  EXPECT_THAT(neighbours(7), ElementsAre(3, 6));
}

TEST(Ladder, HasPairsOfNodes) {
  EXPECT_EQ(MakeTopology("ladder", 7, 1).status().message(),
            "ladder: not for 7 nodes: a ladder has pairs of nodes; the nearest is n = 6 or 8");
}

}  // namespace
}  // namespace grapevine
