// What the random topologies are, beyond the contract: their distributions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/testing/seeds.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

std::shared_ptr<const Topology> Make(const std::string& spec, Rank n, uint64_t seed) {
  const auto topology = MakeTopology(spec, n, seed);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *topology;
}

std::vector<Rank> Neighbours(const Topology& topology, Rank rank, Round round = 0) {
  std::vector<Rank> neighbours;
  topology.InNeighbours(rank, round, &neighbours);
  return neighbours;
}

int64_t Edges(const Topology& topology) {
  int64_t ends = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) ends += topology.Degree(rank, 0);
  return ends / 2;
}

TEST(RandomGraphTest, RegularGraphsHaveTheirDegree) {
  for (Rank d : {2, 3, 4, 7, 12, 18, 19}) {
    for (const uint64_t seed : testing::Seeds(20)) {
      const auto topology = Make("random:d=" + std::to_string(d), 20, seed);
      for (Rank rank = 0; rank < 20; ++rank) EXPECT_EQ(topology->Degree(rank, 0), d);
    }
  }
}

TEST(RandomGraphTest, EveryPairOfARegularGraphIsEquallyLikely) {
  std::map<std::pair<Rank, Rank>, int> counts;
  constexpr int kSeeds = 4000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto topology = Make("random:d=3", 8, seed);
    for (Rank rank = 0; rank < 8; ++rank) {
      for (Rank neighbour : Neighbours(*topology, rank)) ++counts[{rank, neighbour}];
    }
  }
  EXPECT_EQ(counts.size(), 56u);
  // Mean 3/7 of the seeds, standard deviation below 32; five of them.
  for (const auto& [pair, count] : counts) EXPECT_NEAR(count, kSeeds * 3.0 / 7, 160);
}

TEST(RandomGraphTest, SeedsDiffer) {
  for (const char* spec : {"random", "erdos-renyi", "small-world:p=0.5", "random-matching"}) {
    const auto one = Make(spec, 40, 1), two = Make(spec, 40, 2);
    int same = 0;
    for (Rank rank = 0; rank < 40; ++rank) {
      same += Neighbours(*one, rank) == Neighbours(*two, rank);
    }
    EXPECT_LT(same, 20) << spec;
  }
}

TEST(RandomGraphTest, ErdosRenyiHasTheExpectedNumberOfEdges) {
  // 19900 pairs; standard deviation of the mean over 30 seeds below 10.
  for (double p : {0.05, 0.3, 0.9}) {
    double edges = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      edges += Edges(*Make("erdos-renyi:p=" + std::to_string(p), 200, seed));
    }
    EXPECT_NEAR(edges / 30, 19900 * p, 55) << p;
  }
  EXPECT_EQ(Edges(*Make("erdos-renyi:p=1", 200, 1)), 19900);
}

TEST(RandomGraphTest, SmallWorldKeepsItsEdgesAndMovesAShare) {
  const auto lattice = Make("small-world:k=4:p=0", 200, 1);
  EXPECT_EQ(Neighbours(*lattice, 0), (std::vector<Rank>{1, 2, 198, 199}));
  double moved = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto topology = Make("small-world:k=4:p=0.25", 200, seed);
    EXPECT_EQ(Edges(*topology), 400);
    for (Rank rank = 0; rank < 200; ++rank) {
      for (Rank neighbour : Neighbours(*topology, rank)) {
        const Rank distance = std::abs(rank - neighbour);
        moved += std::min(distance, 200 - distance) > 2 ? 0.5 : 0;
      }
    }
  }
  EXPECT_NEAR(moved / 30 / 400, 0.25, 0.02);
}

// All (n - 1)!! matchings, evenly: chi-square below its 99.9 % quantile.
TEST(RandomGraphTest, MatchingsAreUniform) {
  const struct {
    Rank nodes;
    size_t matchings;
    double quantile;
  } cases[] = {{4, 3, 13.9}, {6, 15, 36.2}, {8, 105, 154.4}};
  for (const auto& [nodes, matchings, quantile] : cases) {
    const auto topology = Make("random-matching", nodes, 3);
    std::map<std::vector<Rank>, int> counts;
    const Round rounds = 500 * static_cast<Round>(matchings);
    for (Round round = 0; round < rounds; ++round) {
      std::vector<Rank> partners;
      for (Rank rank = 0; rank < nodes; ++rank) {
        const auto neighbours = Neighbours(*topology, rank, round);
        ASSERT_EQ(neighbours.size(), 1u);
        partners.push_back(neighbours[0]);
      }
      ++counts[partners];
    }
    ASSERT_EQ(counts.size(), matchings);
    double chi_square = 0;
    for (const auto& [partners, count] : counts) {
      chi_square += (count - 500.0) * (count - 500.0) / 500;
    }
    EXPECT_LT(chi_square, quantile) << nodes;
  }
}

TEST(RandomGraphTest, OddMatchingsLeaveEveryoneAloneEquallyOften) {
  const auto topology = Make("random-matching", 7, 3);
  std::vector<int> alone(7, 0);
  for (Round round = 0; round < 7000; ++round) {
    int idle = 0;
    for (Rank rank = 0; rank < 7; ++rank) {
      if (Neighbours(*topology, rank, round).empty()) {
        ++alone[rank];
        ++idle;
      }
    }
    ASSERT_EQ(idle, 1);
  }
  for (int times : alone) EXPECT_NEAR(times, 1000, 150);
}

}  // namespace
}  // namespace grapevine
