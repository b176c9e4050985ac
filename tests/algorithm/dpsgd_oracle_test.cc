// D-PSGD against a loop over W in double precision, on graphs of unequal degree and with
// weights that are not the default. W is made here, from the edges and the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 8;
constexpr Round kRounds = 30;
constexpr int64_t kParameters = 19;
constexpr double kRate = 0.05;
constexpr double kMomentum = 0.9;

using Matrix = std::vector<std::vector<double>>;

Matrix Zero() { return Matrix(kNodes, std::vector<double>(kNodes)); }

// Of one round's graph, which is undirected, with weight(i, j) on its edges.
Matrix Weighted(const Topology& topology, Round round,
                const std::function<double(Rank, Rank)>& weight) {
  Matrix w = Zero();
  std::vector<Rank> in;
  for (Rank i = 0; i < kNodes; ++i) {
    topology.InNeighbours(i, round, &in);
    double sum = 0;
    for (const Rank j : in) sum += w[i][j] = weight(i, j);
    w[i][i] = 1 - sum;
  }
  return w;
}

Matrix Metropolis(const Topology& topology, Round round) {
  return Weighted(topology, round, [&](Rank i, Rank j) {
    return 1.0 / (1 + std::max(topology.Degree(i, round), topology.Degree(j, round)));
  });
}

Matrix Lazy(Matrix w) {
  for (Rank i = 0; i < kNodes; ++i) {
    for (Rank j = 0; j < kNodes; ++j) w[i][j] = (w[i][j] + (i == j ? 1 : 0)) / 2;
  }
  return w;
}

// A path 0 - 1 - ... - 7 with weights of its own; and both as files.
Matrix UnevenPath() {
  Matrix w = Zero();
  for (Rank i = 0; i + 1 < kNodes; ++i) w[i][i + 1] = w[i + 1][i] = 0.05 + 0.06 * i;
  for (Rank i = 0; i < kNodes; ++i) {
    w[i][i] = 1;
    for (Rank j = 0; j < kNodes; ++j) w[i][i] -= j == i ? 0 : w[i][j];
  }
  return w;
}

std::string MatrixFile() {
  const std::string path = ::testing::TempDir() + "/uneven_path.txt";
  std::ofstream file(path);
  file.precision(17);
  for (const auto& row : UnevenPath()) {
    for (const double weight : row) file << weight << " ";
    file << "\n";
  }
  return path;
}

std::string GraphFile() {
  const std::string path = ::testing::TempDir() + "/kite.edges";
  std::ofstream(path) << "0 1\n0 2\n0 3\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n";
  return path;
}

struct Case {
  std::string name;
  std::string topology;
  std::string mixing;
  std::function<Matrix(const Topology&, Round)> matrix;
};

std::vector<Case> Cases() {
  const auto lazy = [](const Topology& t, Round r) { return Lazy(Metropolis(t, r)); };
  return {
      {"star", "star", "metropolis", Metropolis},
      {"path", "path", "metropolis", Metropolis},
      {"erdos_renyi", "erdos-renyi:p=0.5", "metropolis", Metropolis},
      {"small_world", "small-world:k=4:p=0.3", "metropolis", Metropolis},
      {"file", "file:" + GraphFile(), "metropolis", Metropolis},
      {"lazy_star", "star", "lazy:metropolis", lazy},
      {"lazy_matching", "random-matching", "lazy:metropolis", lazy},
      {"uniform_ring", "ring", "uniform",
       [](const Topology& t, Round r) {
         return Weighted(t, r, [](Rank, Rank) { return 1.0 / 3; });
       }},
      {"matrix_path", "path", "file:" + MatrixFile(),
       [](const Topology&, Round) { return UnevenPath(); }},
  };
}

// b of node i: data are unlike.
double Center(Rank rank) { return 0.3 * rank - 1; }

// Element 0 of all nodes; all elements go the same way from different starts.
std::vector<std::vector<double>> Loop(const Case& c, const Topology& topology, bool atc) {
  std::vector<std::vector<double>> x(kNodes), velocity(kNodes, std::vector<double>(kParameters));
  for (Rank i = 0; i < kNodes; ++i) {
    std::vector<float> start(kParameters);
    RandomStart(i, start);
    x[i].assign(start.begin(), start.end());
  }
  for (Round round = 0; round < kRounds; ++round) {
    const Matrix w = c.matrix(topology, round);
    auto step = x;
    for (Rank i = 0; i < kNodes; ++i) {
      for (int64_t e = 0; e < kParameters; ++e) {
        velocity[i][e] = kMomentum * velocity[i][e] + (x[i][e] - Center(i));
        step[i][e] = kRate * velocity[i][e];
      }
    }
    auto next = x;
    for (Rank i = 0; i < kNodes; ++i) {
      for (int64_t e = 0; e < kParameters; ++e) {
        next[i][e] = atc ? 0 : -step[i][e];
        for (Rank j = 0; j < kNodes; ++j)
          next[i][e] += w[i][j] * (x[j][e] - (atc ? step[j][e] : 0));
      }
    }
    x = next;
  }
  return x;
}

class DpsgdOracle : public ::testing::TestWithParam<Case> {};

TEST_P(DpsgdOracle, IsALoopOverW) {
  const Case& c = GetParam();
  const auto topology = *MakeTopology(c.topology, kNodes, 1);
  for (const bool atc : {false, true}) {
    const auto expected = Loop(c, *topology, atc);
    for (const int window : {1, 2, 4}) {
      Cluster cluster({.algorithm = atc ? "dpsgd:order=atc" : "dpsgd",
                       .topology = c.topology,
                       .mixing = c.mixing,
                       .nodes = kNodes,
                       .parameters = kParameters,
                       .learning_rate = kRate,
                       .momentum = kMomentum,
                       .window = window,
                       .order_seed = static_cast<uint64_t>(window),
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 0, 1, Center)});
      ASSERT_TRUE(cluster.Run(kRounds).ok());
      for (Rank rank = 0; rank < kNodes; ++rank) {
        for (int64_t e = 0; e < kParameters; ++e) {
          EXPECT_NEAR(cluster.replica(rank)[e], expected[rank][e], 2e-6)
              << (atc ? "atc" : "awc") << ", window " << window << ", rank " << rank;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, DpsgdOracle, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace grapevine::testing
