#include "experiment/graph_search/mutations.h"

#include <algorithm>
#include <utility>

namespace grapevine {
namespace {

using Rounds = std::vector<WeightedRound>;

// The weight with which a new edge begins.
constexpr double kNewWeight = 0.25;

void Add(Rank a, Rank b, double weight, WeightedRound* round) {
  const Rank low = std::min(a, b), high = std::max(a, b);
  const bool there = std::ranges::any_of(
      *round, [&](const WeightedEdge& edge) { return edge.a == low && edge.b == high; });
  if (!there && low != high) round->push_back({low, high, weight});
}

void AddAny(Rank n, WeightedRound* round, KeyedRandom* random) {
  const auto a = static_cast<Rank>(random->Below(n));
  Add(a, static_cast<Rank>(random->Below(n)), kNewWeight, round);
}

void DropAny(WeightedRound* round, KeyedRandom* random) {
  if (round->empty()) return;
  round->erase(round->begin() + static_cast<std::ptrdiff_t>(random->Below(round->size())));
}

void MoveEnd(Rank n, WeightedRound* round, KeyedRandom* random) {
  if (round->empty()) return;
  const size_t which = random->Below(round->size());
  const WeightedEdge edge = (*round)[which];
  round->erase(round->begin() + static_cast<std::ptrdiff_t>(which));
  const Rank kept = random->Below(2) == 0 ? edge.a : edge.b;
  Add(kept, static_cast<Rank>(random->Below(n)), edge.weight, round);
}

void ChangeRound(Rounds* rounds, KeyedRandom* random) {
  const auto place = [&] {
    return rounds->begin() + static_cast<std::ptrdiff_t>(random->Below(rounds->size()));
  };
  switch (random->Below(3)) {
    case 0:
      if (rounds->size() > 1) rounds->erase(place());
      return;
    case 1: {
      WeightedRound again = *place();
      rounds->insert(place(), std::move(again));
      return;
    }
    default:
      std::iter_swap(place(), place());
  }
}

}  // namespace

Rounds Mutated(Rank n, Rounds rounds, bool fixed, KeyedRandom* random) {
  if (!fixed && random->Below(4) == 0) {
    ChangeRound(&rounds, random);
    return rounds;
  }
  WeightedRound* const round = &rounds[random->Below(rounds.size())];
  switch (random->Below(3)) {
    case 0:
      AddAny(n, round, random);
      break;
    case 1:
      DropAny(round, random);
      break;
    default:
      MoveEnd(n, round, random);
  }
  return rounds;
}

}  // namespace grapevine
