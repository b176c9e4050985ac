// The checkpoints for which the coordinator of a run calls, and the end of a run with one of them.
//
// Nodes that go through rounds together are asked how far they may go, and told a round
// (checkpoint_calls.h). Nodes that share a budget save as they go over to a view (renewals.h).
// Others save at times that all of them know, and this says nothing to them.
//
// A run that is asked to end while it keeps checkpoints ends with the next one that is complete,
// unless its last rounds are over before.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_
#define GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/blame.h"
#include "node/control/checkpoint_calls.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/members.h"
#include "node/control/renewals.h"
#include "node/control/run_limit.h"

namespace grapevine {

class CoordinatedCheckpoints {
 public:
  struct Options {
    // Present if nodes go through rounds together.
    std::optional<CheckpointCallsOptions> calls;
    // Present if nodes share a budget.
    std::optional<RenewalsOptions> renewals;
  };
  // `end` and `members` are the run's, and outlive its checkpoints.
  CoordinatedCheckpoints(Options options, const RunLimit& end, Members* members);

  void Begin(SteadyTime now);
  // Whether the run has begun and its nodes save when they are told to.
  bool on() const { return calls_ || renewals_; }
  // Whether nodes are asked how far they may go.
  bool asks() const { return calls_.has_value(); }

  void OnTime(SteadyTime now);
  // Errors are InvalidArgument, phrased to follow "rank 3 ".
  absl::Status OnPromise(Rank rank, const control::Promise& promise);
  // Reports that a checkpoint is complete. Returns why the run ends with it, if it does.
  std::optional<Blame> OnComplete(Round round);
  // Reports that the run has no more rounds than its limit.
  void Close();
  // Asks for a checkpoint as soon as possible, with which the run ends; only the first call counts.
  // Needs on().
  void EndWithNext(Blame why);

  // Tells members what they are to hear about calls. Returns the round after which they now save,
  // if it is named.
  std::optional<Round> Call();
  // Returns the round of a checkpoint that is due, once: a view is to begin for it. Must not be
  // called before the last view is agreed upon.
  std::optional<Round> Renew();

  // Returns what the log is to say, once.
  std::vector<std::string> TakeNotices() { return std::exchange(notices_, {}); }

 private:
  // The end of the run with a checkpoint.
  struct Stop {
    Blame why;
    std::optional<Round> with = std::nullopt;  // once its round is named
  };

  bool BudgetIsSpent() const { return end_.desk().passed() >= end_.limit(); }
  // Returns the round, which is now named.
  Round Name(Round round);
  // Notes that the run has no round left to save after.
  void NoteLastRounds();

  const Options options_;
  const RunLimit& end_;
  Members& members_;
  std::optional<CheckpointCalls> calls_;  // once the run has begun, if it has them
  std::optional<Renewals> renewals_;      // once the run has begun, if it has them
  std::optional<Stop> stop_;
  std::vector<std::string> notices_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_
