// Decides how an open-ended run ends, whose length is unknown until the programs that compute its
// gradients have given their last ones (control.proto, Spent).
//
// A node whose program has ended *coasts*: it takes part in further rounds without a gradient of
// its own, so that it only averages. It coasts no earlier than another node needs it. Therefore, if
// all programs give the same number of gradients, only one round lacks any, and the number of
// rounds follows from the programs alone, whatever the machines' pace. The exception is a node that
// waits for an averaged model meanwhile, which counts as a wait for the next round. Once all
// programs have ended, the run closes after the round that nodes have begun by then and in which
// all coast: nodes of an open-ended run have leave for no more than one round (RoundLeave).
//
// Some programs may have more gradients than others. The rounds that they need are known from their
// heartbeats, which are late. Therefore nodes that coast get leave for some rounds more than
// needed: twice as many as were needed since they were last told. The others wait for a few
// heartbeats at most.
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
  // `workers` are the ranks whose programs compute gradients, `most` is the largest number of
  // rounds. `coasts` is the round below which another coordinator has let nodes coast before.
  Closing(std::set<Rank> workers, Round most, Round coasts = 0);

  // Handles a report that the program of `rank` has given its last gradient, `gradients` in all;
  // `all`: the others shall give no more, either. Returns InvalidArgument, phrased to follow "rank
  // 3 ", if the report cannot be.
  absl::Status OnSpent(Rank rank, Round gradients, bool all);
  // Handles the position of a node: it has completed `completed` rounds, and may wait for others in
  // the next one.
  void OnProgress(Rank rank, Round completed, bool waits);
  // Requires all nodes to come through the rounds below this one, as they have agreed; the run does
  // not end there.
  void Need(Round round);
  // Does the same as Need for a view that begins with this round: a node that has begun the round
  // gives way to the view only once the gradient that it wants there is given.
  void NeedForView(Round round);
  void Lose(Rank rank);
  void TakeIn(Rank rank);
  // Reports that another coordinator has closed the run, after `rounds` rounds.
  void SetClosed(Round rounds) {
    closed_ = true;
    told_ = coasts_ = rounds;
  }

  // Returns whether the node's program has given its last gradient. Such a node may wait without
  // waiting for any particular node.
  bool IsSpent(Rank rank) const { return spent_.contains(rank); }
  bool closed() const { return closed_; }
  // Returns whether all programs are to end.
  bool ends_all() const { return ends_all_; }

  // Returns the round below which nodes may coast, once each time that this round grows or that all
  // are to end.
  std::optional<Round> TakeCoast() { return std::exchange(told_, std::nullopt); }
  // Returns the number of the run's rounds, once.
  std::optional<Round> TakeRounds() { return std::exchange(rounds_, std::nullopt); }

  // The most rounds for which leave is given before they are needed.
  static constexpr Round kMostAhead = 4096;

 private:
  void Judge();
  // Returns whether a node that has no more gradients may not go through a round that is needed.
  bool HoldsUp() const;

  std::set<Rank> workers_;
  const Round most_;
  std::map<Rank, Round> spent_;
  Round agreed_ = 0;       // nodes come through the rounds below, and one more
  Round needed_ = 0;       // some node needs the rounds below
  Round needed_then_ = 0;  // needed_ when leave was last given
  Round coasts_;           // nodes may coast through the rounds below
  bool ends_all_ = false;
  bool closed_ = false;
  std::optional<Round> told_;
  std::optional<Round> rounds_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CLOSING_H_
