#include "experiment/graph_search/candidates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "experiment/graph_search/exact_schedules.h"
#include "experiment/graph_search/families.h"
#include "experiment/graph_search/matching_schedules.h"

namespace grapevine {
namespace {

using Rounds = std::vector<WeightedRound>;

class CandidateList {
 public:
  CandidateList(const LinkLoads& loads, const SearchLimits& limits, double seconds)
      : loads_(loads), limits_(limits), seconds_(seconds) {}

  void Add(Rounds rounds) {
    constexpr double kWork = 1e8;
    if (limits_.interrupted != nullptr && *limits_.interrupted) return;
    if (rounds.empty() || (limits_.fixed && rounds.size() > 1)) return;
    if (!seen_.insert(KeyOf(rounds)).second) return;
    if (std::optional<FittedSchedule> fitted =
            Fitted(std::move(rounds), loads_, limits_, seconds_, kWork)) {
      candidates_.push_back(*std::move(fitted));
    }
  }
  // Adds rounds with Metropolis weights to begin with.
  void AddUnweighted(Rounds rounds) {
    for (WeightedRound& round : rounds) SetMetropolis(loads_.nodes(), &round);
    Add(std::move(rounds));
  }

  std::vector<FittedSchedule> Take() {
    std::ranges::stable_sort(candidates_, {}, &FittedSchedule::estimate);
    return std::move(candidates_);
  }

 private:
  // Identifies a schedule by its edges, in any order, and their weights.
  using Key = std::vector<std::set<std::tuple<Rank, Rank, double>>>;
  static Key KeyOf(const Rounds& rounds) {
    Key key;
    for (const WeightedRound& round : rounds) {
      key.emplace_back();
      for (const auto& [a, b, weight] : round) key.back().emplace(a, b, weight);
    }
    return key;
  }

  const LinkLoads& loads_;
  const SearchLimits& limits_;
  const double seconds_;
  std::set<Key> seen_;
  std::vector<FittedSchedule> candidates_;
};

void AddExactSchedules(const Group& nearness, CandidateList* list) {
  std::vector<Group> trees = {Flat(nearness)};
  if (!nearness.parts.empty()) {
    trees.push_back(TopLevel(nearness));
    trees.push_back(nearness);
  }
  const auto n = static_cast<int>(nearness.members.size());
  for (const Group& tree : trees) {
    for (const int ways : std::set<int>{2, 3, 4, n}) {
      for (const bool full : {false, true}) {
        list->Add(ExactSchedule(tree, {.ways = ways, .full = full}));
        if (tree.parts.size() > 2) {
          list->Add(ExactSchedule(tree, {.ways = ways, .full = full, .pairwise = true}));
        }
      }
    }
  }
}

// Joins all nodes within each part, and every two parts by `edges_between` edges at nodes that have
// few.
WeightedRound JoinedParts(const Group& group, int edges_between) {
  WeightedRound round;
  for (const Group& part : group.parts) {
    for (size_t i = 0; i < part.members.size(); ++i) {
      for (size_t j = i + 1; j < part.members.size(); ++j) {
        round.push_back({part.members[i], part.members[j], 0});
      }
    }
  }
  std::vector<size_t> used(group.parts.size(), 0);  // members of each part in turn
  for (size_t a = 0; a < group.parts.size(); ++a) {
    for (size_t b = a + 1; b < group.parts.size(); ++b) {
      const std::vector<Rank>& left = group.parts[a].members;
      const std::vector<Rank>& right = group.parts[b].members;
      const size_t most = std::min(left.size(), right.size());
      for (size_t k = 0; k < std::min<size_t>(edges_between, most); ++k) {
        const auto [low, high] =
            std::minmax(left[used[a]++ % left.size()], right[used[b]++ % right.size()]);
        round.push_back({low, high, 0});
      }
    }
  }
  return round;
}

// Adds a fixed graph, and schedules that use its dear edges less often.
void AddSparse(const Group& nearness, const LinkLoads& loads, const WeightedRound& graph,
               CandidateList* list) {
  list->AddUnweighted({graph});
  const EdgeCost cost = [&](const WeightedEdge& edge) { return loads.Seconds(edge.a, edge.b); };
  list->AddUnweighted(Matchings(graph, cost));
  double cheap = 0;  // the dearest edge within a part
  for (const Group& part : nearness.parts) {
    for (const WeightedEdge& edge : graph) {
      const bool within = std::ranges::binary_search(part.members, edge.a) &&
                          std::ranges::binary_search(part.members, edge.b);
      if (within) cheap = std::max(cheap, cost(edge));
    }
  }
  if (nearness.parts.empty()) return;
  for (const int every : {2, 3, 4, 6}) {
    list->AddUnweighted(DearEdgesSometimes(graph, cost, cheap, every));
  }
  for (const int between : {1, 2}) {
    list->AddUnweighted(DearMatchingsInTurn(graph, cost, cheap, between));
  }
}

}  // namespace

std::vector<FittedSchedule> Candidates(const Group& nearness, const LinkLoads& loads,
                                       std::span<const std::shared_ptr<const Mixing>> families,
                                       const SearchLimits& limits, double seconds) {
  CandidateList list(loads, limits, seconds);
  AddExactSchedules(nearness, &list);
  for (const std::shared_ptr<const Mixing>& family : families) {
    if (!family->symmetric()) continue;
    Rounds rounds = WeightedRoundsOf(*family);
    if (rounds.size() == 1) AddSparse(nearness, loads, rounds.front(), &list);
    list.Add(std::move(rounds));
  }
  for (const int edges_between : {1, 2, 3}) {
    if (nearness.parts.empty()) break;
    AddSparse(nearness, loads, JoinedParts(TopLevel(nearness), edges_between), &list);
  }
  return list.Take();
}

}  // namespace grapevine
