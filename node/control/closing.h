// How an open-ended run ends: one whose length nobody knows before the programs that compute its
// gradients have given their last ones (control.proto, Spent).
//
// A node whose program has ended *coasts*: it takes part in further rounds without a gradient of
// its own, so that it only averages. It does so no earlier than another needs it: where all
// programs give the same number of gradients, no round but one lacks any, and how many there are
// follows from the programs alone, whatever the machines' pace; unless a node waits for an averaged
// model meanwhile, which counts as a wait for the next round. Once all programs have ended, the
// run closes after the round that nodes have begun by then and in which all coast: nodes of an
// open-ended run have leave for no more than one (RoundLeave).
//
// Others may have more gradients. The rounds that they need are known from their heartbeats, late;
// so whoever coasts has leave for some rounds more than that, twice as many as were needed since it
// was last told, and they wait for a few heartbeats at most.
//
// Without I/O. Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CLOSING_H_
#define GRAPEVINE_NODE_CONTROL_CLOSING_H_

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "base/ids.h"

namespace grapevine {

class Closing {
 public:
  // The ranks whose programs compute gradients, and the most rounds that there can be. `coasts`:
  // what has been told before, by another coordinator.
  Closing(std::set<Rank> workers, Round most, Round coasts = 0);

  // This node's program has given so many gradients, its last; `all`: the others are to do so too.
  // InvalidArgument, phrased to follow "rank 3 ", says what cannot be.
  absl::Status OnSpent(Rank rank, Round gradients, bool all);
  // Where a node is: so many rounds are completed, and whether it waits for others in the next one.
  void OnProgress(Rank rank, Round completed, bool waits);
  // All are to come through the rounds below this one, as they have agreed, and the run does not
  // end there.
  void Need(Round round);
  // The same for a view that begins with this round: a node that has begun it gives way to the view
  // only once the gradient that it wants there is given.
  void NeedForView(Round round);
  void Lose(Rank rank);
  void TakeIn(Rank rank);
  // Another coordinator has closed the run, after so many rounds.
  void SetClosed(Round rounds) {
    closed_ = true;
    told_ = coasts_ = rounds;
  }

  // Whether the node's program has given its last gradient: it may wait, for nobody in particular.
  bool IsSpent(Rank rank) const { return spent_.contains(rank); }
  bool closed() const { return closed_; }
  // All programs are to end.
  bool ends_all() const { return ends_all_; }

  // The rounds below may be coasted through; once each time that there are more, or all are to end.
  std::optional<Round> TakeCoast() { return std::exchange(told_, std::nullopt); }
  // The number of the run's rounds; once.
  std::optional<Round> TakeRounds() { return std::exchange(rounds_, std::nullopt); }

  // The most rounds that are given leave for before they are needed.
  static constexpr Round kMostAhead = 4096;

 private:
  void Judge();
  // Somebody who has no gradients any more may not go through a round that is needed.
  bool HoldsUp() const;

  std::set<Rank> workers_;
  const Round most_;
  std::map<Rank, Round> spent_;
  Round agreed_ = 0;       // the rounds below are to be come through, and one more
  Round needed_ = 0;       // the rounds below, by anybody
  Round needed_then_ = 0;  // when there was leave last
  Round coasts_;           // the rounds below may be
  bool ends_all_ = false;
  bool closed_ = false;
  std::optional<Round> told_;
  std::optional<Round> rounds_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CLOSING_H_
