#include "experiment/graph_search/groups.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace grapevine {
namespace {

using Cost = std::function<double(Rank, Rank)>;

double Between(const Cost& cost, Rank a, Rank b) { return std::max(cost(a, b), cost(b, a)); }

// Returns the costs below the largest gaps, descending.
std::vector<double> Thresholds(Rank n, const Cost& cost) {
  std::vector<double> costs;
  for (Rank a = 0; a < n; ++a) {
    for (Rank b = a + 1; b < n; ++b) costs.push_back(Between(cost, a, b));
  }
  std::ranges::sort(costs);
  std::vector<std::pair<double, double>> gaps;  // the factor, the cost below
  for (size_t i = 1; i < costs.size(); ++i) {
    if (costs[i] > kApart * costs[i - 1]) {
      gaps.emplace_back(costs[i] / costs[i - 1], costs[i - 1]);
    }
  }
  std::ranges::sort(gaps, std::greater<>());
  if (gaps.size() > kLevels) gaps.resize(kLevels);
  std::vector<double> thresholds;
  for (const auto& [factor, below] : gaps) thresholds.push_back(below);
  std::ranges::sort(thresholds, std::greater<>());
  return thresholds;
}

// Returns sets of members that are joined by messages of at most this cost, in the order of their
// first members.
std::vector<std::vector<Rank>> Joined(const std::vector<Rank>& members, const Cost& cost,
                                      double threshold) {
  std::vector<std::vector<Rank>> joined;
  std::vector<bool> taken(members.size(), false);
  for (size_t first = 0; first < members.size(); ++first) {
    if (taken[first]) continue;
    taken[first] = true;
    std::vector<Rank> part = {members[first]};
    for (size_t next = 0; next < part.size(); ++next) {
      for (size_t i = 0; i < members.size(); ++i) {
        if (taken[i] || Between(cost, part[next], members[i]) > threshold) continue;
        taken[i] = true;
        part.push_back(members[i]);
      }
    }
    std::ranges::sort(part);
    joined.push_back(std::move(part));
  }
  return joined;
}

Group Divide(std::vector<Rank> members, const Cost& cost, std::span<const double> thresholds) {
  Group group{.members = std::move(members), .parts = {}};
  for (size_t level = 0; level < thresholds.size(); ++level) {
    const auto joined = Joined(group.members, cost, thresholds[level]);
    if (joined.size() == 1) continue;
    for (const std::vector<Rank>& part : joined) {
      group.parts.push_back(Divide(part, cost, thresholds.subspan(level + 1)));
    }
    break;
  }
  return group;
}

}  // namespace

Group GroupByNearness(Rank n, const Cost& cost) {
  std::vector<Rank> all(n);
  std::iota(all.begin(), all.end(), 0);
  return Divide(std::move(all), cost, Thresholds(n, cost));
}

Group Flat(const Group& group) { return {.members = group.members, .parts = {}}; }

Group TopLevel(const Group& group) {
  Group top = Flat(group);
  for (const Group& part : group.parts) top.parts.push_back(Flat(part));
  return top;
}

std::vector<Rank> MembersByPart(const Group& group) {
  if (group.parts.empty()) return group.members;
  std::vector<Rank> members;
  for (const Group& part : group.parts) {
    const std::vector<Rank> of_part = MembersByPart(part);
    members.insert(members.end(), of_part.begin(), of_part.end());
  }
  return members;
}

}  // namespace grapevine
