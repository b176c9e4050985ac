// What every topology promises, for every n that it accepts, under every mixing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/status.h"
#include "tests/testing/registered_specs.h"
#include "tests/testing/seeds.h"
#include "topology/stored_graph.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

constexpr Rank kMaxNodes = 40;

std::vector<Rank> In(const Topology& topology, Rank rank, Round round) {
  std::vector<Rank> neighbours = {-7};  // must be replaced
  topology.InNeighbours(rank, round, &neighbours);
  return neighbours;
}

std::vector<Rank> Out(const Topology& topology, Rank rank, Round round) {
  std::vector<Rank> neighbours = {-7};
  topology.OutNeighbours(rank, round, &neighbours);
  return neighbours;
}

class TopologyContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Calls `check` for every n and seed that the spec accepts.
  template <typename Check>
  void ForEach(const Check& check) {
    int accepted = 0;
    for (Rank n = 1; n <= kMaxNodes; ++n) {
      for (const uint64_t seed : testing::Seeds(3)) {
        const auto topology = MakeTopology(GetParam(), n, seed);
        if (!topology.ok()) continue;
        SCOPED_TRACE(::testing::Message() << GetParam() << " n=" << n << " seed=" << seed);
        check(*topology);
        if (HasFailure()) return;
        ++accepted;
      }
    }
    EXPECT_GT(accepted, 0);
  }

  // Rounds that show everything: two periods, or a few of an endless schedule.
  static Round Rounds(const Topology& topology) {
    return topology.period() == 0 ? 5 : 2 * topology.period();
  }
};

TEST_P(TopologyContractTest, NeighboursAreAscendingDistinctOthers) {
  ForEach([](const std::shared_ptr<const Topology>& topology) {
    for (Round round = 0; round < Rounds(*topology); ++round) {
      for (Rank rank = 0; rank < topology->size(); ++rank) {
        for (const auto& neighbours : {In(*topology, rank, round), Out(*topology, rank, round)}) {
          EXPECT_EQ(std::adjacent_find(neighbours.begin(), neighbours.end(), std::greater_equal()),
                    neighbours.end());
          EXPECT_EQ(std::count(neighbours.begin(), neighbours.end(), rank), 0);
          for (Rank neighbour : neighbours) {
            EXPECT_GE(neighbour, 0);
            EXPECT_LT(neighbour, topology->size());
          }
        }
        EXPECT_EQ(topology->Degree(rank, round),
                  static_cast<Rank>(In(*topology, rank, round).size()));
        EXPECT_EQ(topology->OutDegree(rank, round),
                  static_cast<Rank>(Out(*topology, rank, round).size()));
      }
    }
  });
}

TEST_P(TopologyContractTest, InAndOutAreTheSameEdges) {
  ForEach([](const std::shared_ptr<const Topology>& topology) {
    bool one_way = false;
    for (Round round = 0; round < Rounds(*topology); ++round) {
      std::set<std::pair<Rank, Rank>> in, out;
      for (Rank rank = 0; rank < topology->size(); ++rank) {
        for (Rank from : In(*topology, rank, round)) in.emplace(from, rank);
        for (Rank to : Out(*topology, rank, round)) out.emplace(rank, to);
      }
      EXPECT_EQ(in, out);
      for (const auto& [from, to] : out) one_way |= !out.contains({to, from});
    }
    EXPECT_EQ(topology->directed(), one_way);
  });
}

TEST_P(TopologyContractTest, RepeatsWithItsPeriodAndNoSooner) {
  ForEach([](const std::shared_ptr<const Topology>& topology) {
    const Round period = topology->period();
    const auto same = [&](Round a, Round b) {
      for (Rank rank = 0; rank < topology->size(); ++rank) {
        if (Out(*topology, rank, a) != Out(*topology, rank, b)) return false;
      }
      return true;
    };
    if (period == 0) {
      int changes = 0;
      for (Round round = 0; round < 20; ++round) changes += !same(round, round + 1);
      EXPECT_GT(changes, 0);
      return;
    }
    for (Round round = 0; round < period; ++round) EXPECT_TRUE(same(round, round + period));
    for (Round shorter = 1; shorter < period; ++shorter) EXPECT_FALSE(same(0, shorter));
  });
}

TEST_P(TopologyContractTest, IsConnectedOverAPeriod) {
  ForEach([](const std::shared_ptr<const Topology>& topology) {
    std::vector<Edge> edges;
    const Round rounds = topology->period() == 0 ? 60 : topology->period();
    for (Round round = 0; round < rounds; ++round) {
      for (Rank rank = 0; rank < topology->size(); ++rank) {
        for (Rank to : Out(*topology, rank, round)) edges.push_back({rank, to});
      }
    }
    EXPECT_EQ(FirstUnreachable(topology->size(), edges), std::nullopt);
  });
}

TEST_P(TopologyContractTest, IsAFunctionOfSpecSizeAndSeed) {
  for (Rank n = 1; n <= kMaxNodes; ++n) {
    const auto one = MakeTopology(GetParam(), n, 7), two = MakeTopology(GetParam(), n, 7);
    ASSERT_EQ(one.ok(), two.ok());
    if (!one.ok()) continue;
    // The canonical name describes the same graph.
    const auto three = MakeTopology((*one)->name(), n, 7);
    ASSERT_TRUE(three.ok()) << three.status();
    EXPECT_EQ((*three)->name(), (*one)->name());
    for (Round round = 0; round < Rounds(**one); ++round) {
      for (Rank rank = 0; rank < n; ++rank) {
        EXPECT_EQ(In(**one, rank, round), In(**two, rank, round));
        EXPECT_EQ(In(**one, rank, round), In(**three, rank, round));
      }
    }
  }
}

TEST_P(TopologyContractTest, IsAsStochasticUnderEveryMixingAsItSays) {
  ForEach([](const std::shared_ptr<const Topology>& topology) {
    for (const std::string& spec : testing::ExamplesOf(Mixings())) {
      const auto mixing = MakeMixing(spec, topology);
      if (!mixing.ok()) {
        // Only uniform may refuse, where degrees differ.
        EXPECT_THAT(spec, ::testing::HasSubstr("uniform")) << mixing.status();
        continue;
      }
      for (Round round = 0; round < Rounds(*topology); ++round) {
        std::vector<double> columns(topology->size(), 0);
        std::vector<std::vector<double>> dense(topology->size(), columns);
        MixingRow row;
        row.in = {{-7, 0.5}};  // must be replaced
        for (Rank rank = 0; rank < topology->size(); ++rank) {
          (*mixing)->Row(rank, round, &row);
          double sum = row.self;
          columns[rank] += row.self;
          dense[rank][rank] = row.self;
          EXPECT_GT(row.self, 0);
          std::vector<Rank> neighbours;
          for (const auto& [neighbour, weight] : row.in) {
            EXPECT_GT(weight, 0);
            sum += weight;
            columns[neighbour] += weight;
            dense[rank][neighbour] = weight;
            neighbours.push_back(neighbour);
          }
          EXPECT_EQ(neighbours, In(*topology, rank, round));
          if ((*mixing)->stochastic() == Stochastic::kDoubly) {
            EXPECT_NEAR(sum, 1, 1e-14);
          }
        }
        for (double column : columns) EXPECT_NEAR(column, 1, 1e-14);
        for (Rank i = 0; (*mixing)->symmetric() && i < topology->size(); ++i) {
          for (Rank j = 0; j < i; ++j) EXPECT_EQ(dense[i][j], dense[j][i]);
        }
      }
    }
  });
}

TEST_P(TopologyContractTest, RefusesOnlyWithTheNearestSizeThatWorks) {
  for (Rank n = 1; n <= kMaxNodes; ++n) {
    const auto topology = MakeTopology(GetParam(), n, 1);
    if (topology.ok()) {
      EXPECT_EQ((*topology)->size(), n);
      continue;
    }
    const std::string message(topology.status().message());
    EXPECT_EQ(FailureOf(topology.status()), Failure::kUsage) << message;
    const std::string mark = "; the nearest is n = ";
    const size_t at = message.find(mark);
    ASSERT_NE(at, std::string::npos) << message;
    const Rank nearest = std::atoi(message.c_str() + at + mark.size());
    EXPECT_TRUE(MakeTopology(GetParam(), nearest, 1).ok()) << message;
    for (Rank other = 1; other <= 2 * kMaxNodes; ++other) {
      if (std::abs(other - n) < std::abs(nearest - n)) {
        EXPECT_FALSE(MakeTopology(GetParam(), other, 1).ok()) << message << "; " << other;
      }
    }
  }
}

TEST(Topologies, AreUnderContract) {
  for (const TopologyKind* kind : Topologies().All()) {
    EXPECT_TRUE(kind->tail || !kind->examples.empty()) << kind->name;
    for (const std::string& spec : kind->examples) EXPECT_EQ(ParseSpec(spec)->name, kind->name);
    for (Rank n = 1; kind->advised && n <= kMaxNodes; ++n) {
      for (const std::string& spec : kind->advised(n)) EXPECT_EQ(ParseSpec(spec)->name, kind->name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TopologyContractTest,
                         ::testing::ValuesIn(testing::ExamplesOf(Topologies())),
                         testing::SpecTestName);

}  // namespace
}  // namespace grapevine
