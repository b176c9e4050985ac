#include "node/control/disputes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace grapevine {
namespace {

// Pairs that are at odds, the lower rank first.
using Pairs = std::set<std::pair<Rank, Rank>>;
using Opponents = std::map<Rank, std::set<Rank>>;

// A union of ranks: ranks that were joined, directly or through others, have one group, which one
// of them represents.
class Groups {
 public:
  Rank Of(Rank rank) {
    const auto found = joined_to_.find(rank);
    if (found == joined_to_.end()) return rank;
    found->second = Of(found->second);
    return found->second;
  }
  void Join(Rank one, Rank other) {
    if (Of(one) != Of(other)) joined_to_[Of(one)] = Of(other);
  }

 private:
  std::map<Rank, Rank> joined_to_;
};

// Returns the nodes that go in any case, because the other end of their loss is kept.
std::set<Rank> Forced(const Dispute& dispute, const std::set<Rank>& kept) {
  std::set<Rank> forced;
  for (const Loss& loss : dispute) {
    if (kept.contains(loss.lost)) {
      forced.insert(loss.reporter);
    } else if (kept.contains(loss.reporter)) {
      forced.insert(loss.lost);
    }
  }
  return forced;
}

Pairs Without(Pairs pairs, const std::set<Rank>& gone) {
  std::erase_if(pairs, [&](const auto& pair) {
    return gone.contains(pair.first) || gone.contains(pair.second);
  });
  return pairs;
}

Opponents OpponentsIn(const Pairs& pairs) {
  Opponents opponents;
  for (const auto& [one, other] : pairs) {
    opponents[one].insert(other);
    opponents[other].insert(one);
  }
  return opponents;
}

// Returns how many have lost each of the lost nodes.
std::map<Rank, int> LosersOf(const Dispute& dispute) {
  std::map<Rank, int> losers;
  for (const Loss& loss : dispute) ++losers[loss.lost];
  return losers;
}

// Searches for the fewest nodes.
class Cover {
 public:
  Cover(const Pairs& pairs, std::map<Rank, int> losers) : losers_(std::move(losers)) {
    Opponents all = OpponentsIn(pairs);
    for (const auto& [rank, opponents] : all) best_.insert(rank);
    all.size() > kMostForExact ? TakeOneByOne(std::move(all)) : Try(pairs, {});
  }
  const std::set<Rank>& best() const { return best_; }

 private:
  int Losers(Rank rank) const {
    const auto found = losers_.find(rank);
    return found == losers_.end() ? 0 : found->second;
  }

  // Orders sets of equal size: the greater one goes.
  auto Weight(const std::set<Rank>& ranks) const {
    int losers = 0, lost = 0;
    for (const Rank rank : ranks) {
      losers += Losers(rank);
      lost += losers_.contains(rank);
    }
    return std::tuple(losers, lost, std::vector<Rank>(ranks.rbegin(), ranks.rend()));
  }

  // Returns the node that is at odds with most.
  Rank Foremost(const Opponents& opponents) const {
    const auto weight = [this](const auto& entry) {
      return std::tuple(entry.second.size(), Losers(entry.first), entry.first);
    };
    return std::ranges::max_element(opponents, {}, weight)->first;
  }

  // Tries to cover the remaining pairs, in addition to the nodes that are gone already.
  void Try(const Pairs& pairs, const std::set<Rank>& gone) {
    if (gone.size() > best_.size()) return;
    if (pairs.empty()) {
      if (gone.size() < best_.size() || Weight(gone) > Weight(best_)) best_ = gone;
      return;
    }
    const Opponents opponents = OpponentsIn(pairs);
    const Rank foremost = Foremost(opponents);
    // Either this node goes, or all nodes do with which it is at odds.
    for (const std::set<Rank>& go : {std::set<Rank>{foremost}, opponents.at(foremost)}) {
      std::set<Rank> with = gone;
      with.insert(go.begin(), go.end());
      Try(Without(pairs, go), with);
    }
  }

  void TakeOneByOne(Opponents opponents) {
    best_.clear();
    while (!opponents.empty()) {
      const Rank foremost = Foremost(opponents);
      best_.insert(foremost);
      const auto gone = opponents.extract(foremost);
      for (const Rank opponent : gone.mapped()) {
        const auto found = opponents.find(opponent);
        found->second.erase(foremost);
        if (found->second.empty()) opponents.erase(found);
      }
    }
  }

  const std::map<Rank, int> losers_;
  std::set<Rank> best_;
};

}  // namespace

std::vector<Dispute> SeparateDisputes(const Dispute& losses, const std::set<Rank>& kept) {
  Groups groups;
  for (const Loss& loss : losses) {
    if (!kept.contains(loss.reporter) && !kept.contains(loss.lost)) {
      groups.Join(loss.reporter, loss.lost);
    }
  }
  std::map<Rank, Dispute> by_group;
  std::vector<Dispute> disputes;
  for (const Loss& loss : losses) {
    const Rank going = kept.contains(loss.reporter) ? loss.lost : loss.reporter;
    if (kept.contains(going)) {
      disputes.push_back({loss});  // a loss between two kept nodes
    } else {
      by_group[groups.Of(going)].insert(loss);
    }
  }
  for (auto& [group, dispute] : by_group) disputes.push_back(std::move(dispute));
  std::ranges::sort(disputes);
  return disputes;
}

std::vector<Rank> FewestToGo(const Dispute& dispute, const std::set<Rank>& kept) {
  std::set<Rank> go = Forced(dispute, kept);
  Pairs pairs;
  for (const Loss& loss : dispute) pairs.insert(std::minmax(loss.reporter, loss.lost));
  std::map<Rank, int> losers = LosersOf(dispute);
  std::set<Rank> settled = go;
  settled.insert(kept.begin(), kept.end());
  const Cover cover(Without(std::move(pairs), settled), losers);
  go.insert(cover.best().begin(), cover.best().end());
  std::vector<Rank> in_order(go.begin(), go.end());
  std::ranges::sort(in_order, std::greater(),
                    [&](Rank rank) { return std::pair(losers[rank], rank); });
  return in_order;
}

}  // namespace grapevine
