// Rank 0's part of a run whose nodes share a budget of gradients (algorithm/async_gradients.h):
// each worker's limit, when to measure, and when the run is over. Without I/O.
//
// A nominal round is over when the workers together have done as many steps as it has: all nodes
// are then told to measure (a cut), each at its next boundary or at once where it rests. So
// measurements are as far apart as those of a run with rounds, and no node waits for another to
// take them. Several cuts may be open (kMaxOpen), but only one whose models are averaged: a node
// that still averages an earlier one stops until that is done, and must be able to rely on all the
// others having added theirs. The last cut waits until all workers rest: what is measured then is
// what the run leaves.
//
// The run is over when the budget is used up and every worker has come to rest at its limit.
// Nothing that it began is then under way, and nobody begins anything more: nodes that serve others
// may end, too. Before that none may, even if it is idle.
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
  Rank workers = 1;  // the ranks below; the others are servers
  Round window = 1;  // steps between a worker's exchanges
  Round rounds = 0;  // nominal: the furthest end of the run
  // Of a run that goes on: the nominal rounds that are over, and what each worker has done.
  Round begin = 0;
  std::vector<Round> done = {};
  // The end is settled by Extend alone, also the furthest one: what is evaluated then may have to
  // be averaged again, where members are lost.
  bool settles_last = false;
  // Whether all nodes measure when so many nominal rounds are over, and whether their models are
  // averaged then. What is evaluated is also measured.
  std::function<bool(Round)> measured;
  std::function<bool(Round)> evaluated;
};

class BudgetDesk {
 public:
  // Cuts that may be open at once: of which some node has not said that it has taken them. So
  // little waits for a node that is stopped, or computes, while others do thousands of rounds.
  static constexpr Round kMaxOpen = 256;

  explicit BudgetDesk(BudgetDeskOptions options);

  // Moves the end of the run outwards to so many nominal rounds; `final` settles it, as does the
  // furthest end, unless that settles last.
  void Extend(Round rounds, bool final);
  // InvalidArgument, phrased to follow "rank 3 ", says what no node can report.
  absl::Status OnSteps(Rank rank, const control::Steps& report);

  // `rank`, which has not left before, is out of the run: the others share what it has not done,
  // and nobody waits for it. Members change with that: the desk is held up (Hold).
  void Leave(Rank rank);
  // While it is held up, as when members change, nobody is told to measure, and the run does not
  // end: of what is measured all are to know whose it is.
  void Hold(bool held);

  // What to tell whom, in order.
  std::vector<std::pair<Rank, control::Directive>> Take() { return std::exchange(directives_, {}); }

  // Whether all nodes have taken the cuts of all rounds until then.
  bool Measured(Round round) const;
  // Whether all nodes have been told that the run is over.
  bool over() const { return over_; }
  // Nominal rounds that are over, and cut if they are measured.
  Round passed() const { return passed_; }
  // The gradients of all workers together.
  int64_t total() const { return budget_.total(); }
  // The steps that `rank` has done at the end; none are counted of a server.
  bool EndsAt(Rank rank, Round steps) const;

 private:
  struct Node {
    Round taken = 0;      // the last cut that it has taken
    bool rested = false;  // at its limit, a worker
    bool left = false;
  };

  absl::Status CheckCut(Rank rank, Round cut) const;
  void Advance();
  // Whether enough nodes have taken earlier cuts, if this round is to be cut, and rest, if it is
  // the last.
  bool MayPass(Round round);
  void Cut(Round round);
  bool AllTook(Round cut) const;
  bool AllRested() const;
  void TellLimit(Rank rank);

  const BudgetDeskOptions options_;
  GradientBudget budget_;
  std::vector<Node> nodes_;
  Round end_ = 0;  // nominal
  bool settled_ = false;
  Round passed_;
  Round last_cut_;  // none: that in which the run begins
  Round evaluated_cut_;
  std::deque<Round> open_;  // cuts, with some at the front that all have taken
  bool over_ = false;
  bool held_ = false;
  std::vector<std::pair<Rank, control::Directive>> directives_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_BUDGET_DESK_H_
