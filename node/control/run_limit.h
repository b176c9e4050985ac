// How long a run is, and what its members are told of that.
//
// A run ends at a round limit, which may move outwards while evaluations settle it. Where nodes
// share a budget of gradients, the limit counts nominal rounds, and each worker has a limit of its
// own steps (budget_desk.h). An open-ended run closes when its programs have given their last
// gradients (closing.h): its limit moves inwards, once.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_RUN_LIMIT_H_
#define GRAPEVINE_NODE_CONTROL_RUN_LIMIT_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/budget_desk.h"
#include "node/control/closing.h"
#include "node/control/control.pb.h"
#include "node/control/members.h"

namespace grapevine {

class RunLimit {
 public:
  struct Options {
    Round limit = 0;  // of an open-ended run, the most rounds that there can be
    std::optional<BudgetDeskOptions> budget;
    bool open_ended = false;
    // Whether the limit at which the run closes is final only once Extend says so.
    bool settles_last = false;
  };
  // `members` are the run's, and outlive its limit.
  RunLimit(const Options& options, Members* members);

  Round limit() const { return limit_; }
  bool final() const { return final_; }
  // The limit in what nodes count: rounds or, if they share a budget, steps.
  Round StepLimit() const { return desk_ ? desk_->total() : limit_; }
  bool shares_budget() const { return desk_.has_value(); }
  // The desk of a run whose nodes share a budget.
  const BudgetDesk& desk() const { return *desk_; }
  // The limits that came with a growth of the batch, in their order.
  const std::vector<control::RoundLimit>& settled() const { return settled_; }

  // Begins with what an earlier part of the run has settled. `workers` and `coasts` as Closing's.
  void Start(std::vector<control::RoundLimit> settled, std::set<Rank> workers);
  // Goes on with the limit that another coordinator has told last.
  void TakeOver(const control::RoundLimit& told);
  void BeginClosing(std::set<Rank> workers, Round coasts);

  // Moves the limit outwards, or settles it where it is. Returns false, and does nothing, if
  // `limit` is lower. Members hear of it by Tell.
  bool Extend(Round limit, bool final);
  void Tell(int64_t growth);

  // Errors are InvalidArgument, phrased to follow "rank 3 ".
  absl::Status OnSteps(Rank rank, const control::Steps& steps);
  absl::Status OnSpent(Rank rank, const control::Spent& spent);
  void OnProgress(Rank rank, const control::Heartbeat& heartbeat);
  // A member is excluded, or a new one has come in, which is a worker.
  void Leave(Rank rank);
  void TakeIn(Rank rank);
  // All members come through the rounds below `round`, or begin a view with it (Closing).
  void Need(Round round);
  void NeedForView(Round round);
  // Suspends measurements while members change, and sends limits that are due.
  void Hold(bool held);
  // Sends the limits that are due to nodes that share a budget, if they do.
  void SendLimits();

  // Moves the limit inwards if all programs have given their last gradients since the last call,
  // and returns whether it has.
  bool Close();
  void TellLimit(int64_t growth);
  void TellCoast();
  bool closed() const { return closing_ && closing_->closed(); }
  // Whether a node may wait for nobody in particular, as its program has no more gradients.
  bool Coasts(Rank rank) const { return closing_ && closing_->IsSpent(rank) && !closed(); }

  // Whether a member has done all its rounds.
  bool IsDone(Rank rank) const { return members_.At(rank).done_below == limit_; }
  bool AllDone() const;
  // Why no node can be done with `limit`, phrased to follow the number; empty if this one can.
  std::string NotDone(Rank rank, Round limit) const;
  // Whether what is measured at the end of the run may be under way when a view begins with
  // `begun`.
  bool MeasuresTheEnd(Round begun) const;

 private:
  const Options options_;
  Members& members_;
  Round limit_;
  bool final_ = false;
  bool begun_ = false;
  std::vector<control::RoundLimit> settled_;
  std::optional<BudgetDesk> desk_;
  std::optional<Closing> closing_;  // once the run has begun
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_RUN_LIMIT_H_
