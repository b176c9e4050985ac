#include "experiment/graph_search/matching_schedules.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace grapevine {
namespace {

WeightedRound Those(const WeightedRound& graph,
                    const std::function<bool(const WeightedEdge&)>& of) {
  WeightedRound those;
  std::ranges::copy_if(graph, std::back_inserter(those), of);
  return those;
}

bool Touches(const WeightedRound& matching, const WeightedEdge& edge) {
  return std::ranges::any_of(matching, [&](const WeightedEdge& other) {
    return other.a == edge.a || other.a == edge.b || other.b == edge.a || other.b == edge.b;
  });
}

}  // namespace

std::vector<WeightedRound> Matchings(const WeightedRound& graph, const EdgeCost& cost) {
  WeightedRound edges = graph;
  std::ranges::stable_sort(edges, std::greater<>(), cost);
  std::vector<WeightedRound> matchings;
  for (const WeightedEdge& edge : edges) {
    auto place = std::ranges::find_if_not(
        matchings, [&](const WeightedRound& matching) { return Touches(matching, edge); });
    if (place == matchings.end()) place = matchings.insert(place, WeightedRound());
    place->push_back(edge);
  }
  return matchings;
}

std::vector<WeightedRound> DearEdgesSometimes(const WeightedRound& graph, const EdgeCost& cost,
                                              double cheap, int every) {
  const WeightedRound cheap_ones =
      Those(graph, [&](const WeightedEdge& edge) { return cost(edge) <= cheap; });
  std::vector<WeightedRound> rounds(every, cheap_ones);
  rounds.front() = graph;
  return rounds;
}

std::vector<WeightedRound> DearMatchingsInTurn(const WeightedRound& graph, const EdgeCost& cost,
                                               double cheap, int rounds_between) {
  const auto is_cheap = [&](const WeightedEdge& edge) { return cost(edge) <= cheap; };
  const WeightedRound cheap_ones = Those(graph, is_cheap);
  const WeightedRound dear_ones = Those(graph, [&](const auto& edge) { return !is_cheap(edge); });
  std::vector<WeightedRound> rounds;
  for (WeightedRound& matching : Matchings(dear_ones, cost)) {
    rounds.insert(rounds.end(), rounds_between, cheap_ones);
    rounds.push_back(std::move(matching));
  }
  return rounds;
}

}  // namespace grapevine
