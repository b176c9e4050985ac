#include "experiment/graph_search/exact_schedules.h"

#include <algorithm>
#include <map>
#include <utility>

namespace grapevine {
namespace {

using Rounds = std::vector<WeightedRound>;

// Splits members into at most `ways` parts of about equal size, in the order of the members.
std::vector<Group> SplitEvenly(const std::vector<Rank>& members, int ways) {
  const auto size = static_cast<int>(members.size());
  const int parts = std::min(ways, size);
  std::vector<Group> split(parts);
  for (int i = 0; i < size; ++i) {
    split[int64_t{i} * parts / size].members.push_back(members[i]);
  }
  return split;
}

Group Joined(std::vector<Group> parts) {
  Group group;
  for (const Group& part : parts) {
    group.members.insert(group.members.end(), part.members.begin(), part.members.end());
  }
  std::ranges::sort(group.members);
  group.parts = std::move(parts);
  return group;
}

// Joins parts into a binary tree.
std::vector<Group> ByTwos(std::vector<Group> parts) {
  if (parts.size() <= 2) return parts;
  const auto middle = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() + 1) / 2;
  const auto half = [](std::vector<Group> some) {
    return some.size() == 1 ? some.front() : Joined(ByTwos(std::move(some)));
  };
  return {half({parts.begin(), middle}), half({middle, parts.end()})};
}

std::vector<Group> PartsOf(const Group& group, const ExactStyle& style) {
  if (group.parts.empty()) return SplitEvenly(group.members, style.ways);
  return style.pairwise ? ByTwos(group.parts) : group.parts;
}

bool EqualInSize(const std::vector<Group>& parts) {
  return std::ranges::all_of(parts, [&](const Group& part) {
    return part.members.size() == parts.front().members.size();
  });
}

// Lets counterparts of all parts average. The parts must be equal in size.
WeightedRound FullExchange(const std::vector<Group>& parts) {
  const double weight = 1.0 / static_cast<double>(parts.size());
  WeightedRound round;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = i + 1; j < parts.size(); ++j) {
      for (size_t k = 0; k < parts[i].members.size(); ++k) {
        const auto [a, b] = std::minmax(parts[i].members[k], parts[j].members[k]);
        round.push_back({a, b, weight});
      }
    }
  }
  return round;
}

// Hands out a round's weight between parts, over as few edges as possible.
class WeightDealer {
 public:
  // Hands out `weight` between two parts. A node gives at most 1 in all.
  void Deal(const Group& from, const Group& to, double weight) {
    constexpr double kNothing = 1e-12;
    while (weight > kNothing) {
      const Rank a = Richest(from), b = Richest(to);
      const double share = std::min({weight, Left(a), Left(b)});
      if (share <= kNothing) return;  // only rounding is left
      given_[a] += share;
      given_[b] += share;
      weights_[std::minmax(a, b)] += share;
      weight -= share;
    }
  }

  WeightedRound Take() const {
    WeightedRound round;
    for (const auto& [pair, weight] : weights_) round.push_back({pair.first, pair.second, weight});
    return round;
  }

 private:
  double Left(Rank rank) const {
    const auto given = given_.find(rank);
    return given == given_.end() ? 1 : 1 - given->second;
  }
  Rank Richest(const Group& group) const {
    return *std::ranges::max_element(group.members, {}, [this](Rank rank) { return Left(rank); });
  }

  std::map<Rank, double> given_;
  std::map<std::pair<Rank, Rank>, double> weights_;
};

// Lets parts agree on their mean. All nodes of a part must agree before.
WeightedRound ThinExchange(const std::vector<Group>& parts, double all) {
  WeightDealer dealer;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = i + 1; j < parts.size(); ++j) {
      dealer.Deal(parts[i], parts[j],
                  static_cast<double>(parts[i].members.size()) *
                      static_cast<double>(parts[j].members.size()) / all);
    }
  }
  return dealer.Take();
}

// Runs schedules of different nodes side by side.
Rounds Together(const std::vector<Rounds>& schedules) {
  Rounds together;
  for (const Rounds& rounds : schedules) {
    together.resize(std::max(together.size(), rounds.size()));
    for (size_t i = 0; i < rounds.size(); ++i) {
      together[i].insert(together[i].end(), rounds[i].begin(), rounds[i].end());
    }
  }
  return together;
}

struct Exact {
  Rounds rounds;     // rounds that come once
  Rounds once_more;  // rounds that come again at the end
};

Exact ExactOf(const Group& group, const ExactStyle& style) {
  if (group.members.size() == 1) return {};
  const std::vector<Group> parts = PartsOf(group, style);
  std::vector<Rounds> within;
  for (const Group& part : parts) {
    Exact exact = ExactOf(part, style);
    exact.rounds.insert(exact.rounds.end(), exact.once_more.begin(), exact.once_more.end());
    within.push_back(std::move(exact.rounds));
  }
  Exact exact{.rounds = Together(within), .once_more = {}};
  const bool single = parts.front().members.size() == 1;
  if (EqualInSize(parts) && (style.full || single)) {
    exact.rounds.push_back(FullExchange(parts));
    return exact;
  }
  exact.once_more = exact.rounds;
  exact.rounds.push_back(ThinExchange(parts, static_cast<double>(group.members.size())));
  return exact;
}

}  // namespace

std::vector<WeightedRound> ExactSchedule(const Group& group, const ExactStyle& style) {
  return ExactOf(group, style).rounds;
}

}  // namespace grapevine
