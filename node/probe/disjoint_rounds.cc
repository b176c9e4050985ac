#include "node/probe/disjoint_rounds.h"

#include <map>
#include <set>

namespace grapevine {

std::vector<std::vector<size_t>> DisjointRounds(std::span<const HostEdge> edges) {
  std::vector<std::vector<size_t>> rounds;
  std::vector<std::set<size_t>> busy;
  std::map<HostEdge, size_t> round_of;
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    const auto [from, to] = edges[edge];
    if (const auto back = round_of.find({to, from}); back != round_of.end() && from != to) {
      rounds[back->second].push_back(edge);
      continue;
    }
    size_t round = 0;
    while (round < rounds.size() && (busy[round].contains(from) || busy[round].contains(to))) {
      ++round;
    }
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back();
    }
    rounds[round].push_back(edge);
    busy[round].insert({from, to});
    round_of[edges[edge]] = round;
  }
  return rounds;
}

}  // namespace grapevine
