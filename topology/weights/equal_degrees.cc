#include "topology/weights/equal_degrees.h"

#include <vector>

namespace grapevine {
namespace {

bool Equal(const Topology& topology, Rank a, Rank b, Round round) {
  const Rank degree = topology.Degree(a, round);
  return topology.OutDegree(a, round) == degree && topology.Degree(b, round) == degree &&
         topology.OutDegree(b, round) == degree;
}

// Whether all degrees of a round are equal. Lists no neighbours.
bool Regular(const Topology& topology, Round round) {
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    if (!Equal(topology, 0, rank, round)) return false;
  }
  return true;
}

std::optional<Edge> UnequalEdge(const Topology& topology, Round round) {
  if (Regular(topology, round)) return std::nullopt;
  std::vector<Rank> neighbours;
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    topology.InNeighbours(rank, round, &neighbours);
    for (const Rank neighbour : neighbours) {
      if (!Equal(topology, neighbour, rank, round)) return Edge{neighbour, rank};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnequalDegrees> FindUnequalDegrees(const Topology& topology) {
  for (Round round = 0; round < topology.shown_rounds(); ++round) {
    if (const auto edge = UnequalEdge(topology, round)) return UnequalDegrees{*edge, round};
  }
  return std::nullopt;
}

}  // namespace grapevine
