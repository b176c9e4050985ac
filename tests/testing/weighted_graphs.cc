#include "tests/testing/weighted_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include "topology/topology.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = WeightedGraph::kNodes;

// Undirected, each once.
using Edges = std::vector<std::pair<Rank, Rank>>;
using WeightsOf = std::function<Matrix(const Edges&)>;

Edges Star() {
  Edges edges;
  for (Rank leaf = 1; leaf < kNodes; ++leaf) edges.emplace_back(0, leaf);
  return edges;
}

Edges Path() {
  Edges edges;
  for (Rank rank = 1; rank < kNodes; ++rank) edges.emplace_back(rank - 1, rank);
  return edges;
}

Edges Ring() {
  Edges edges = Path();
  edges.emplace_back(0, kNodes - 1);
  return edges;
}

Edges Kite() { return {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}; }

Edges EdgesOf(const Topology& topology, Round round) {
  Edges edges;
  std::vector<Rank> in;
  for (Rank i = 0; i < kNodes; ++i) {
    topology.InNeighbours(i, round, &in);
    for (const Rank j : in) {
      if (i < j) edges.emplace_back(i, j);
    }
  }
  return edges;
}

Matrix Weighted(const Edges& edges, const std::function<double(Rank, Rank)>& weight) {
  Matrix w(kNodes, std::vector<double>(kNodes));
  for (Rank i = 0; i < kNodes; ++i) w[i][i] = 1;
  for (const auto& [i, j] : edges) {
    w[i][j] = w[j][i] = weight(i, j);
    w[i][i] -= w[i][j];
    w[j][j] -= w[i][j];
  }
  return w;
}

Matrix Metropolis(const Edges& edges) {
  std::vector<int> degree(kNodes);
  for (const auto& [i, j] : edges) ++degree[i], ++degree[j];
  return Weighted(edges,
                  [&](Rank i, Rank j) { return 1.0 / (1 + std::max(degree[i], degree[j])); });
}

Matrix LazyMetropolis(const Edges& edges) {
  Matrix w = Metropolis(edges);
  for (Rank i = 0; i < kNodes; ++i) {
    for (Rank j = 0; j < kNodes; ++j) w[i][j] = (w[i][j] + (i == j ? 1 : 0)) / 2;
  }
  return w;
}

Matrix Thirds(const Edges& edges) {
  return Weighted(edges, [](Rank, Rank) { return 1.0 / 3; });
}

// No two are alike.
Matrix Uneven(const Edges& edges) {
  return Weighted(edges, [](Rank i, Rank j) { return 0.05 + 0.03 * (i + j - 1); });
}

std::string GraphFile(const Edges& edges) {
  const std::string path = ::testing::TempDir() + "/kite.edges";
  std::ofstream file(path);
  for (const auto& [i, j] : edges) file << i << " " << j << "\n";
  return path;
}

std::string MatrixFile(const Matrix& w) {
  const std::string path = ::testing::TempDir() + "/uneven_path.txt";
  std::ofstream file(path);
  file.precision(17);
  for (const auto& row : w) {
    for (const double weight : row) file << weight << " ";
    file << "\n";
  }
  return path;
}

WeightedGraph Fixed(std::string name, std::string topology, std::string mixing, Matrix w) {
  return {std::move(name), std::move(topology), std::move(mixing), [w](Round) { return w; }};
}

// Its edges are not known beforehand: the topology says which there are.
WeightedGraph Drawn(std::string name, std::string topology, std::string mixing, WeightsOf weights) {
  const std::shared_ptr<const Topology> graph = *MakeTopology(topology, kNodes, /*seed=*/1);
  return {std::move(name), std::move(topology), std::move(mixing),
          [=](Round round) { return weights(EdgesOf(*graph, round)); }};
}

}  // namespace

std::vector<WeightedGraph> WeightedGraphs() {
  const Matrix uneven = Uneven(Path());
  return {
      Fixed("star", "star", "metropolis", Metropolis(Star())),
      Fixed("path", "path", "metropolis", Metropolis(Path())),
      Drawn("erdos_renyi", "erdos-renyi:p=0.5", "metropolis", Metropolis),
      Drawn("small_world", "small-world:k=4:p=0.3", "metropolis", Metropolis),
      Fixed("file", "file:" + GraphFile(Kite()), "metropolis", Metropolis(Kite())),
      Fixed("lazy_star", "star", "lazy:metropolis", LazyMetropolis(Star())),
      Drawn("lazy_matching", "random-matching", "lazy:metropolis", LazyMetropolis),
      Fixed("uniform_ring", "ring", "uniform", Thirds(Ring())),
      Fixed("matrix_path", "path", "file:" + MatrixFile(uneven), uneven),
  };
}

}  // namespace grapevine::testing
