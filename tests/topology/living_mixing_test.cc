// The graph of those that are left: whoever is lost, whatever the graph was.
#include "topology/weights/living_mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "random/keyed_random.h"
#include "system/file.h"
#include "tests/testing/registered_specs.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

constexpr uint64_t kSeed = 3;
constexpr double kTolerance = 1e-12;

using Matrix = std::vector<std::vector<double>>;

Matrix MatrixOf(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  Matrix w(n, std::vector<double>(n));
  MixingRow row;
  for (Rank i = 0; i < n; ++i) {
    mixing.Row(i, round, &row);
    w[i][i] = row.self;
    for (const Neighbour& in : row.in) w[i][in.rank] = in.weight;
  }
  return w;
}

LivingMixingRequest Request(const std::string& topology, const std::string& mixing, Rank n) {
  const auto graph = MakeTopology(topology, n, kSeed);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto whole = MakeMixing(mixing, *graph);
  EXPECT_TRUE(whole.ok()) << whole.status();
  return {.whole = *whole, .topology = topology, .mixing = mixing, .seed = kSeed};
}

LivingMixing Living(const LivingMixingRequest& request, const std::vector<Rank>& living) {
  const auto left = MixingOfLiving(request, living);
  EXPECT_TRUE(left.ok()) << left.status();
  return *left;
}

// A file of this test's, of that text.
std::string FileOf(const std::string& name, std::string_view text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  const absl::Status status = WriteFileAtomically(path, std::string(text));
  EXPECT_TRUE(status.ok()) << status;
  return "file:" + path;
}

TEST(LivingMixingTest, OfAllIsTheWhole) {
  const LivingMixingRequest request = Request("hypercube", "metropolis", 4);
  const LivingMixing all = Living(request, {0, 1, 2, 3});
  EXPECT_EQ(all.mixing, request.whole);
  EXPECT_EQ(all.graph, LivingGraph::kWhole);
}

TEST(LivingMixingTest, ARingClosesOverTheLost) {
  const LivingMixing left = Living(Request("ring", "metropolis", 6), {0, 1, 3, 4, 5});
  EXPECT_EQ(left.graph, LivingGraph::kRemade);
  EXPECT_EQ(left.mixing->topology().name(), "ring");
  std::vector<Rank> neighbours;
  left.mixing->topology().InNeighbours(1, 0, &neighbours);
  EXPECT_EQ(neighbours, (std::vector<Rank>{0, 2})) << "node 1 is next to node 3";
}

// Matchings of four nodes in two rounds, without node 3: nodes 2 and 0 have nobody in a round.
TEST(LivingMixingTest, AScheduleFromAFileKeepsItsRounds) {
  const std::string graph = FileOf("turns.edges", "round 0\n0 1\n2 3\nround 1\n1 2\n0 3\n");
  const LivingMixing left = Living(Request(graph, "metropolis", 4), {0, 1, 2});
  EXPECT_EQ(left.graph, LivingGraph::kKept);
  EXPECT_EQ(left.mixing->topology().period(), 2);
  EXPECT_EQ(MatrixOf(*left.mixing, 0), (Matrix{{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}}));
  EXPECT_EQ(MatrixOf(*left.mixing, 1), (Matrix{{1, 0, 0}, {0, 0.5, 0.5}, {0, 0.5, 0.5}}));
}

// 0 - 1 - 2 - 3 - 0 and 1 - 3, by hand: W of four nodes without node 2.
TEST(LivingMixingTest, WhatWasSharedWithALostNeighbourStaysWithTheNode) {
  const std::string graph = FileOf("kite.edges", "0 1\n1 2\n2 3\n3 0\n1 3\n");
  const LivingMixing left = Living(Request(graph, "metropolis", 4), {0, 1, 3});
  EXPECT_EQ(left.graph, LivingGraph::kKept);
  // Degrees 2, 3, 2, 3: every weight between neighbours is 1/4.
  const Matrix w = MatrixOf(*left.mixing, 0);
  const Matrix expected = {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(w[i][j], expected[i][j], kTolerance) << i << j;
  }
}

// What the matrix of a file gives to a lost node is not the default's.
TEST(LivingMixingTest, AMatrixFromAFileKeepsItsWeights) {
  const std::string graph = FileOf("triangle.edges", "0 1\n1 2\n2 0\n");
  const std::string matrix = FileOf("triangle.txt", "0.5 0.2 0.3\n0.2 0.7 0.1\n0.3 0.1 0.6\n");
  const Matrix w = MatrixOf(*Living(Request(graph, matrix, 3), {0, 2}).mixing, 0);
  EXPECT_NEAR(w[0][0], 0.7, kTolerance);
  EXPECT_NEAR(w[0][1], 0.3, kTolerance);
  EXPECT_NEAR(w[1][1], 0.7, kTolerance);
}

// A sends to B and C, which send to one each: where A's mass to a lost C went, A keeps it.
TEST(LivingMixingTest, OneWayEdgesKeepTheColumns) {
  const std::string graph = FileOf("one-way.edges", "0 -> 1\n1 -> 0\n0 -> 2\n2 -> 1\n");
  LivingMixingRequest request = Request(graph, "out-degree", 3);
  request.usable = {Stochastic::kDoubly, Stochastic::kColumns};
  const LivingMixing left = Living(request, {0, 1});
  EXPECT_EQ(left.graph, LivingGraph::kKept);
  const Matrix w = MatrixOf(*left.mixing, 0);
  EXPECT_NEAR(w[0][0], 2.0 / 3, kTolerance);
  EXPECT_NEAR(w[1][0], 1.0 / 3, kTolerance);
  EXPECT_NEAR(w[0][1], 0.5, kTolerance);
  EXPECT_NEAR(w[1][1], 0.5, kTolerance);
}

// Views may follow one another: what is left of what was left is what is left of all.
TEST(LivingMixingTest, NodesAreLostOneAfterAnother) {
  const LivingMixingRequest request = Request("random:d=4", "metropolis", 12);
  const Matrix at_once = MatrixOf(*Living(request, {0, 1, 2, 4, 5, 6, 8, 9, 10, 11}).mixing, 0);
  LivingMixingRequest next = request;
  next.whole = Living(request, {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11}).mixing;
  const Matrix w = MatrixOf(*Living(next, {0, 1, 2, 3, 4, 5, 7, 8, 9, 10}).mixing, 0);
  for (size_t i = 0; i < w.size(); ++i) {
    for (size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(w[i][j], at_once[i][j], kTolerance);
  }
}

// Without node 2, an edge of no weight is all that leads from 0 to 1.
TEST(LivingMixingTest, AnEdgeWithoutWeightLeadsNowhere) {
  const std::string graph = FileOf("weightless.edges", "0 1\n1 2\n2 0\n");
  const std::string matrix = FileOf("weightless.txt", "0.5 0 0.5\n0 0.5 0.5\n0.5 0.5 0\n");
  EXPECT_EQ(Living(Request(graph, matrix, 3), {0, 1}).graph, LivingGraph::kRing);
}

TEST(LivingMixingTest, TheLivingFormARingWhereNothingElseHolds) {
  const std::string path = FileOf("path.edges", "0 1\n1 2\n2 3\n3 4\n");
  EXPECT_EQ(Living(Request(path, "metropolis", 5), {0, 1, 3, 4}).graph, LivingGraph::kRing)
      << "in two parts";
  const std::string cycle =
      FileOf("cycle.edges", "0 -> 1\n1 -> 2\n2 -> 0\n2 -> 1\n1 -> 0\n0 -> 2\n");
  EXPECT_EQ(Living(Request(cycle, "metropolis", 3), {1, 2}).graph, LivingGraph::kKept)
      << "every edge goes both ways";
}

TEST(LivingMixingTest, OneNodeIsLeftAlone) {
  for (const char* topology : {"ring", "random", "one-peer-exponential", "hypercube"}) {
    const LivingMixing left = Living(Request(topology, "metropolis", 8), {5});
    EXPECT_EQ(MatrixOf(*left.mixing, 3), Matrix{{1.0}}) << topology;
  }
}

class SurvivorsTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Calls `check` for graphs of several sizes that have lost some of their nodes.
  template <typename Check>
  void ForEach(const Check& check) {
    int found = 0;
    for (Rank n = 2; n <= 32; ++n) {
      const auto graph = MakeTopology(GetParam(), n, kSeed);
      if (!graph.ok()) continue;
      const LivingMixingRequest request = Request(GetParam(), "metropolis", n);
      for (Round draw = 0; draw < 3; ++draw) {
        const std::vector<Rank> living = Draw(n, draw);
        SCOPED_TRACE(::testing::Message() << GetParam() << " n=" << n << " draw=" << draw
                                          << " seed=" << kSeed << " living=" << living.size());
        check(request, living);
        if (HasFailure()) return;
        ++found;
      }
    }
    EXPECT_GT(found, 0);
  }

 private:
  // At least one node of n.
  static std::vector<Rank> Draw(Rank n, Round draw) {
    KeyedRandom random(kSeed, Purpose::kTopology, n, draw);
    std::vector<Rank> living;
    for (Rank rank = 0; rank < n; ++rank) {
      if (random.Unit() < 0.7) living.push_back(rank);
    }
    if (living.empty()) living.push_back(n / 2);
    return living;
  }
};

TEST_P(SurvivorsTest, AverageAsDoublyStochasticallyAsAll) {
  ForEach([](const LivingMixingRequest& request, const std::vector<Rank>& living) {
    const LivingMixing left = Living(request, living);
    const size_t n = living.size();
    ASSERT_EQ(left.mixing->topology().size(), static_cast<Rank>(n));
    for (Round round = 0; round < 5; ++round) {
      const Matrix w = MatrixOf(*left.mixing, round);
      for (size_t i = 0; i < n; ++i) {
        double row = 0, column = 0;
        for (size_t j = 0; j < n; ++j) {
          EXPECT_GE(w[i][j], 0);
          row += w[i][j];
          column += w[j][i];
          if (left.mixing->topology().directed()) continue;
          EXPECT_NEAR(w[i][j], w[j][i], kTolerance);
        }
        EXPECT_NEAR(row, 1, kTolerance);
        EXPECT_NEAR(column, 1, kTolerance);
      }
    }
  });
}

// 100 rounds of averaging: the mean of the living stays, and they come closer to it.
TEST_P(SurvivorsTest, KeepTheirMeanAndAgree) {
  ForEach([](const LivingMixingRequest& request, const std::vector<Rank>& living) {
    const LivingMixing left = Living(request, living);
    const size_t n = living.size();
    std::vector<double> x(n), next(n);
    for (size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(living[i] + 1));
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(n);
    const auto spread = [&] {
      double squares = 0;
      for (const double value : x) squares += (value - mean) * (value - mean);
      return squares;
    };
    const double before = spread();
    for (Round round = 0; round < 100; ++round) {
      const Matrix w = MatrixOf(*left.mixing, round);
      for (size_t i = 0; i < n; ++i) {
        next[i] = std::inner_product(w[i].begin(), w[i].end(), x.begin(), 0.0);
      }
      x.swap(next);
    }
    const double after = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(n);
    EXPECT_NEAR(after, mean, kTolerance);
    EXPECT_LE(spread(), 0.5 * before + kTolerance);
  });
}

// Of a graph without a formula, two living neighbours keep what they share.
TEST_P(SurvivorsTest, KeepTheirEdgesWhereTheGraphWasDrawn) {
  ForEach([](const LivingMixingRequest& request, const std::vector<Rank>& living) {
    const LivingMixing left = Living(request, living);
    if (left.graph != LivingGraph::kKept) return;
    for (Round round = 0; round < 3; ++round) {
      const Matrix whole = MatrixOf(*request.whole, round);
      const Matrix w = MatrixOf(*left.mixing, round);
      for (size_t i = 0; i < living.size(); ++i) {
        for (size_t j = 0; j < living.size(); ++j) {
          if (i == j) continue;
          EXPECT_EQ(w[i][j], whole[living[i]][living[j]]);
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(AllTopologies, SurvivorsTest,
                         ::testing::ValuesIn(testing::ExamplesOf(Topologies())),
                         testing::SpecTestName);

}  // namespace
}  // namespace grapevine
