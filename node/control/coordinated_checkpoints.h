// Runs the checkpoints of a run at rank 0. Names the rounds after which all nodes save their states
// (CheckpointCalls or, if nodes do not go through rounds together, Renewals), and knows which nodes
// have their parts, and when a checkpoint is complete (CheckpointDesk). Without I/O.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_
#define GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"

namespace grapevine {

// The times at which all nodes save.
struct CheckpointCallsOptions {
  Rank nodes = 1;
  Round rounds = 0;  // the most rounds of the run
  Round begin = 0;   // the checkpoint that the run goes on from
  // The time from one checkpoint to the next, and from the start to the first; none: only on
  // demand.
  std::optional<std::chrono::nanoseconds> every;
};

// Names rounds when some time has passed since the last one, or at once when the run is to end.
//
// Nodes are in different rounds, and all must save after the same one. Therefore they are asked how
// far they may go (Prepare), which they keep to until they hear more. The named round is the first
// that no node can have completed, but never the last round, from which a run cannot go on. Nodes
// have leave for a few rounds ahead, so that none has to wait (node/runner/round_progress.h).
//
// The passage of time calls for no checkpoint before the last one is complete: on a slower disk,
// checkpoints come as fast as the disk takes them.
class CheckpointCalls {
 public:
  // The run begins at `now`.
  CheckpointCalls(CheckpointCallsOptions options, SteadyTime now);

  void OnTime(SteadyTime now);
  // Asks for a checkpoint as soon as possible: the one whose round is being asked for, or another.
  void Demand();
  // Handles a promise. Returns InvalidArgument, phrased to follow "rank 3 ", if no node can promise
  // this.
  absl::Status OnPromise(Rank rank, const control::Promise& promise);
  // Reports that a checkpoint is complete.
  void OnComplete(Round round);
  // Reports that the run has no more rounds than these.
  void Close(Round rounds) { rounds_ = rounds; }

  // Returns whether no checkpoint comes any more, because the run ends before.
  bool over() const { return over_; }

  // Returns what all nodes are to be told (kPrepare, kCheckpointAt), once each.
  std::optional<control::Directive> Take() { return std::exchange(directive_, std::nullopt); }

 private:
  void Ask();
  // Names the round, once all have promised.
  void Name();

  const CheckpointCallsOptions options_;
  Round rounds_;
  SteadyTime now_;
  SteadyTime last_;  // time of the last naming
  uint32_t ballot_ = 0;
  bool asking_ = false;
  bool over_ = false;               // the run ends before another one
  std::map<Rank, Round> promised_;  // answers to this ballot
  Round named_;                     // the last named round
  Round complete_;                  // the last complete one
  std::optional<control::Directive> directive_;
};

// The times at which all nodes save that share a budget of gradients (budget_desk.h).
struct RenewalsOptions {
  Round begin = 0;  // the checkpoint that the run goes on from
  // Either the nominal rounds after which nodes save, or the time from one checkpoint to the next
  // and from the start to the first. Neither: only on demand.
  std::function<bool(Round)> saved = nullptr;
  std::optional<std::chrono::nanoseconds> every = std::nullopt;
};

// Decides when nodes that share a budget of gradients save. They do so as they go over to a view
// with the same members (View::checkpoint), since nothing is in flight between two views. This
// costs each node the gradient under way, which is computed again, and the time until all have
// ended their exchanges. A checkpoint is named after a nominal round that all have measured, and no
// other before that one is complete, unless it is demanded.
class Renewals {
 public:
  // The run begins at `now`.
  Renewals(RenewalsOptions options, SteadyTime now);

  void OnTime(SteadyTime now) { now_ = now; }
  // Asks for a checkpoint as soon as possible, or for the one that is under way.
  void Demand() { demanded_ = !under_way(); }
  // Reports that `passed` nominal rounds are over.
  void OnPassed(Round passed);
  // Reports that a checkpoint is complete.
  void OnComplete(Round round) { complete_ = std::max(complete_, round); }

  // Returns the round of a checkpoint that is due, until it is named.
  std::optional<Round> due() const { return due_; }
  void Name();
  // Returns the checkpoint that is named and not complete.
  std::optional<Round> under_way() const {
    return complete_ < named_ ? std::optional(named_) : std::nullopt;
  }

 private:
  const RenewalsOptions options_;
  SteadyTime now_;
  SteadyTime last_;  // time of the last naming
  bool demanded_ = false;
  std::optional<Round> due_;
  Round passed_;
  Round named_;
  Round complete_;
};

// The conditions under which the checkpoints of a run are complete.
struct CheckpointDeskOptions {
  Rank nodes = 1;
  Round rounds = 0;  // rounds of the run
  Round begin = 0;   // the checkpoint that it goes on from
  // Return whether all nodes save after this many rounds, where nothing calls for it (none: never),
  // and whether their models are evaluated then.
  std::function<bool(Round)> saved;
  std::function<bool(Round)> evaluated;
};

// Decides when checkpoints are complete. A checkpoint is complete when the parts of all nodes,
// except lost ones, are on the nodes' disks, and the run's metrics have all evaluations up to its
// round, on which the rest of the run may depend. Nodes report in the order of the rounds. Of the
// checkpoints that wait for metrics, or to be taken, the last kMostWaiting stay: as many as a run
// keeps.
class CheckpointDesk {
 public:
  struct Complete {
    Round round = 0;
    // The parts by rank: of all nodes, except those that were lost before it was complete or came
    // in after its round.
    std::map<Rank, control::SavedPart> parts;
    // Whether a node was ever lost: if so, the rest of the run does not follow from the states
    // alone.
    bool changed = false;
  };

  explicit CheckpointDesk(CheckpointDeskOptions options);

  // Reports that all nodes are told to save after this round (CheckpointCalls).
  void OnCalled(Round round) { called_.insert(round); }
  // Reports that a node's part is on its disk. Errors name the rank and the part that it cannot
  // have.
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
  // Reports that the run goes on without this node. It sends no more parts, and checkpoints that
  // are not complete yet do without its part.
  void OnLost(Rank rank);
  // Reports that another process has come in its place, and begins in round `from`.
  void OnNewcomer(Rank rank, Round from);
  // Reports that the node that had rank 0's role before has completed this checkpoint.
  void OnInherited(Round complete) { inherited_ = complete; }
  // Reports that the run's metrics are complete up to this round.
  void OnMeasured(Round round);
  // Reports that the run is over with this round: no run goes on from it, nor from later rounds.
  void OnOver(Round round) { end_ = round; }

  // Returns whether a checkpoint can be taken.
  bool ready() const { return !waiting_.empty() && MayComplete(waiting_.front().round); }
  // Returns the next complete checkpoint, each once, in order.
  std::optional<Complete> Take();

  static constexpr size_t kMostWaiting = 2;

 private:
  // The most checkpoints that lack parts. If nodes are further apart, the oldest of these never
  // becomes complete. That is rare: a node's own disk holds it up, and with it its neighbours.
  static constexpr size_t kMaxOpen = 1024;

  bool HasAll(Round round, const std::map<Rank, control::SavedPart>& parts) const;
  // Makes this checkpoint, and none before it, wait to be taken.
  void Finish(Round round);
  absl::Status CheckPart(Rank rank, const control::SavedPart& part) const;
  bool Saved(Round round) const;
  bool MayComplete(Round round) const;

  const CheckpointDeskOptions options_;
  std::vector<Round> last_;   // last reported round of each rank
  std::vector<Round> begun_;  // round in which each process began
  std::set<Rank> lost_;
  bool changed_ = false;
  std::set<Round> called_;  // after the last round that all have reported
  std::map<Round, std::map<Rank, control::SavedPart>> open_;
  std::deque<Complete> waiting_;  // checkpoints with all parts
  Round measured_;
  Round inherited_ = 0;
  std::optional<Round> end_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_
