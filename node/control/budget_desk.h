// Decides for rank 0, in a run whose nodes share a budget of gradients
// (algorithm/async_gradients.h), each worker's limit, when to measure, and when the run is over.
// Without I/O.
//
// A nominal round is over when the workers together have done as many steps as it has. All nodes
// are then told to measure (a cut), each at its next boundary, or at once if it rests. Thus
// measurements are as far apart as those of a run with rounds, and no node waits for another to
// take them. Several cuts may be open (kMaxOpen), but only one whose models are averaged: a node
// that still averages an earlier cut stops until that is done, and must be able to rely on all
// other nodes having added their models. The last cut waits until all workers rest: what is
// measured then is what the run leaves.
//
// The run is over when the budget is used up and every worker has come to rest at its limit.
// Nothing that a worker began is then under way, and no node begins anything more: nodes that serve
// others may end, too. Before that no such node may end, even if it is idle.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_BUDGET_DESK_H_
#define GRAPEVINE_NODE_CONTROL_BUDGET_DESK_H_

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/async_gradients.h"
#include "base/ids.h"
#include "node/control/control.pb.h"

namespace grapevine {

struct BudgetDeskOptions {
  Rank nodes = 1;
  Rank workers = 1;  // the ranks below are workers, the others servers
  Round window = 1;  // steps between two exchanges of a worker
  Round rounds = 0;  // nominal rounds: the furthest end of the run
  // For a run that goes on: the number of nominal rounds that are over, and of the steps that each
  // worker has done.
  Round begin = 0;
  std::vector<Round> done = {};
  // Whether only Extend settles the end, even the furthest one: if members are lost, the models
  // that are evaluated at the end may have to be averaged again.
  bool settles_last = false;
  // Return whether all nodes measure when this many nominal rounds are over, and whether their
  // models are averaged then. Every evaluated round is also measured.
  std::function<bool(Round)> measured;
  std::function<bool(Round)> evaluated;
};

class BudgetDesk {
 public:
  // The most cuts that may be open, that is, which some node has not reported as taken. It keeps
  // small what waits for a node that is stopped, or computes, while others do thousands of rounds.
  static constexpr Round kMaxOpen = 256;

  explicit BudgetDesk(BudgetDeskOptions options);

  // Moves the end of the run outwards to `rounds` nominal rounds. `final` settles it, as does the
  // furthest end, unless settles_last is set.
  void Extend(Round rounds, bool final);
  // Handles a report of `rank`. Returns InvalidArgument, phrased to follow "rank 3 ", if no node
  // can report this.
  absl::Status OnSteps(Rank rank, const control::Steps& report);

  // Takes `rank`, which has not left before, out of the run: the others share the steps that it has
  // not done, and no node waits for it. Since members change with that, the desk is held up (Hold).
  void Leave(Rank rank);
  // Holds the desk up, as when members change, or releases it. While it is held up, no node is told
  // to measure, and the run does not end: all must know whose models are measured.
  void Hold(bool held);

  // Returns the directives to send, with their receivers, in order.
  std::vector<std::pair<Rank, control::Directive>> Take() { return std::exchange(directives_, {}); }

  // Returns whether all nodes have taken the cuts of all rounds up to this one.
  bool Measured(Round round) const;
  // Returns whether all nodes have been told that the run is over.
  bool over() const { return over_; }
  // Returns the number of nominal rounds that are over, and have been cut if they are measured.
  Round passed() const { return passed_; }
  // Returns the number of gradients of all workers together.
  int64_t total() const { return budget_.total(); }
  // Returns whether `rank` has done `steps` steps at the end. True for any number of steps of a
  // server: they are not counted.
  bool EndsAt(Rank rank, Round steps) const;

 private:
  struct Node {
    Round taken = 0;      // the last cut that it has taken
    bool rested = false;  // whether it is a worker that rests at its limit
    bool left = false;
  };

  absl::Status CheckCut(Rank rank, Round cut) const;
  void Advance();
  // Returns whether enough nodes have taken earlier cuts, if this round is to be cut, and rest, if
  // it is the last round.
  bool MayPass(Round round);
  void Cut(Round round);
  bool AllTook(Round cut) const;
  bool AllRested() const;
  void TellLimit(Rank rank);

  const BudgetDeskOptions options_;
  GradientBudget budget_;
  std::vector<Node> nodes_;
  Round end_ = 0;  // in nominal rounds
  bool settled_ = false;
  Round passed_;
  Round last_cut_;  // if none: the round in which the run begins
  Round evaluated_cut_;
  // The open cuts. All nodes may have taken some of those at the front.
  std::deque<Round> open_;
  bool over_ = false;
  bool held_ = false;
  std::vector<std::pair<Rank, control::Directive>> directives_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_BUDGET_DESK_H_
