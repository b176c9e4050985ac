// The last round that each rank has reported, and the least of them.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_REPORTED_ROUNDS_H_
#define GRAPEVINE_NODE_CONTROL_REPORTED_ROUNDS_H_

#include <map>

#include "base/ids.h"

namespace grapevine {

class ReportedRounds {
 public:
  // Replaces the rank's round, if it has one.
  void Set(Rank rank, Round round) {
    Erase(rank);
    rounds_[rank] = round;
    ++ranks_at_[round];
  }
  void Erase(Rank rank) {
    const auto found = rounds_.find(rank);
    if (found == rounds_.end()) return;
    const auto at = ranks_at_.find(found->second);
    if (--at->second == 0) ranks_at_.erase(at);
    rounds_.erase(found);
  }

  // Returns how many ranks have a round.
  Rank size() const { return static_cast<Rank>(rounds_.size()); }
  bool contains(Rank rank) const { return rounds_.contains(rank); }
  // Returns the rank's round; 0 if it has none.
  Round Of(Rank rank) const {
    const auto found = rounds_.find(rank);
    return found == rounds_.end() ? 0 : found->second;
  }
  // Returns whether no rank's round is before this one. Takes no longer with many ranks.
  bool AllAtLeast(Round round) const {
    return ranks_at_.empty() || ranks_at_.begin()->first >= round;
  }

 private:
  std::map<Rank, Round> rounds_;
  std::map<Round, Rank> ranks_at_;  // how many
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_REPORTED_ROUNDS_H_
