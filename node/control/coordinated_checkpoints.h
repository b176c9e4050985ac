// Rank 0's part in a run's checkpoints: it names rounds after which all nodes save what they have
// (CheckpointCalls; Renewals, where nodes go through no rounds together), and knows which nodes
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

// When all nodes are to save.
struct CheckpointCallsOptions {
  Rank nodes = 1;
  Round rounds = 0;  // of the run, at most
  Round begin = 0;   // the checkpoint that it goes on from
  // From one to the next, and from the start to the first; none: only on demand.
  std::optional<std::chrono::nanoseconds> every;
};

// Names rounds when a time has passed since the last one, or at once when the run is to end.
//
// Nodes are in different rounds, and all must save after the same. So they are asked how far they
// may go (Prepare), which they keep to until they hear more, and the round is the first that none
// of them can have completed; never the last, which there is no going on from. They have leave for
// a few rounds ahead, so that none waits for that (node/runner/round_progress.h).
//
// A checkpoint is not called for by the time before the last one is complete: on a disk that is
// slower they come as fast as it takes them.
class CheckpointCalls {
 public:
  // `now`: when the run begins.
  CheckpointCalls(CheckpointCallsOptions options, SteadyTime now);

  void OnTime(SteadyTime now);
  // One is wanted as soon as may be: the one whose round is being asked for, or another.
  void Demand();
  // InvalidArgument, phrased to follow "rank 3 ", says what no node can promise.
  absl::Status OnPromise(Rank rank, const control::Promise& promise);
  // One is complete.
  void OnComplete(Round round);
  // The run has no more rounds than these.
  void Close(Round rounds) { rounds_ = rounds; }

  // Whether none comes any more, as the run ends before.
  bool over() const { return over_; }

  // What all nodes are to be told (kPrepare, kCheckpointAt), once each.
  std::optional<control::Directive> Take() { return std::exchange(directive_, std::nullopt); }

 private:
  void Ask();
  // All have promised.
  void Name();

  const CheckpointCallsOptions options_;
  Round rounds_;
  SteadyTime now_;
  SteadyTime last_;  // when the last one was named
  uint32_t ballot_ = 0;
  bool asking_ = false;
  bool over_ = false;               // the run ends before another one
  std::map<Rank, Round> promised_;  // answers to this ballot
  Round named_;                     // the last
  Round complete_;                  // the last
  std::optional<control::Directive> directive_;
};

// When all nodes are to save that share a budget of gradients (budget_desk.h).
struct RenewalsOptions {
  Round begin = 0;  // the checkpoint that the run goes on from
  // After which nominal rounds; or from one to the next, and from the start to the first. Neither:
  // only on demand.
  std::function<bool(Round)> saved = nullptr;
  std::optional<std::chrono::nanoseconds> every = std::nullopt;
};

// Such nodes save as they go over to a view with the same members (View::checkpoint), between which
// nothing is on its way. It costs each of them the gradient under way, which is computed again, and
// the time until all have ended what they exchange. A checkpoint is named after a nominal round
// that all have measured, and no other before that one is complete, unless it is demanded.
class Renewals {
 public:
  // `now`: when the run begins.
  Renewals(RenewalsOptions options, SteadyTime now);

  void OnTime(SteadyTime now) { now_ = now; }
  // One is wanted as soon as may be, or the one that is under way.
  void Demand() { demanded_ = !under_way(); }
  // So many nominal rounds are over.
  void OnPassed(Round passed);
  // One is complete.
  void OnComplete(Round round) { complete_ = std::max(complete_, round); }

  // The round of a checkpoint that is due, until it is named.
  std::optional<Round> due() const { return due_; }
  void Name();
  // The one that is named and not complete.
  std::optional<Round> under_way() const {
    return complete_ < named_ ? std::optional(named_) : std::nullopt;
  }

 private:
  const RenewalsOptions options_;
  SteadyTime now_;
  SteadyTime last_;  // when the last one was named
  bool demanded_ = false;
  std::optional<Round> due_;
  Round passed_;
  Round named_;
  Round complete_;
};

// When the checkpoints of a run are complete.
struct CheckpointDeskOptions {
  Rank nodes = 1;
  Round rounds = 0;  // of the run
  Round begin = 0;   // the checkpoint that it goes on from
  // Whether all nodes save what they have after so many rounds, wherever nobody calls for it (none:
  // never), and whether their models are evaluated then.
  std::function<bool(Round)> saved;
  std::function<bool(Round)> evaluated;
};

// A checkpoint is complete when all nodes' parts of it are on their disks, those of nodes that are
// lost excepted, and the run's metrics have all evaluations until its round, on which the rest of
// the run may depend. Nodes report in the order of the rounds. Of those that wait for metrics, or
// to be taken, the last kMostWaiting stay: as many as a run keeps.
class CheckpointDesk {
 public:
  struct Complete {
    Round round = 0;
    // By rank: of all nodes, or of those that were not lost before it was complete, nor came in
    // after its round.
    std::map<Rank, control::SavedPart> parts;
    // Whether a node was ever lost: what is to come does not follow from the states alone.
    bool changed = false;
  };

  explicit CheckpointDesk(CheckpointDeskOptions options);

  // All nodes are told to save what they have after this round (CheckpointCalls).
  void OnCalled(Round round) { called_.insert(round); }
  // A node's part is on its disk. Errors name the rank and what it cannot have.
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
  // The run goes on without this node: nothing more comes of it, and what is not complete yet will
  // be without its part.
  void OnLost(Rank rank);
  // Another process has come in its place, and begins in round `from`.
  void OnNewcomer(Rank rank, Round from);
  // Whoever had rank 0's role before has completed that one.
  void OnInherited(Round complete) { inherited_ = complete; }
  // The run's metrics have all until this round.
  void OnMeasured(Round round);
  // The run is over with this round: nobody goes on from it, nor from later ones.
  void OnOver(Round round) { end_ = round; }

  // Whether there is one to take.
  bool ready() const { return !waiting_.empty() && MayComplete(waiting_.front().round); }
  // The next one that is complete, once each, in order.
  std::optional<Complete> Take();

  static constexpr size_t kMostWaiting = 2;

 private:
  // Where nodes are more checkpoints apart, the oldest that lacks parts is none. That is rare: a
  // node's own disk holds it up, and with it its neighbours.
  static constexpr size_t kMaxOpen = 1024;

  bool HasAll(Round round, const std::map<Rank, control::SavedPart>& parts) const;
  // It, and none before it, waits to be taken.
  void Finish(Round round);
  absl::Status CheckPart(Rank rank, const control::SavedPart& part) const;
  bool Saved(Round round) const;
  bool MayComplete(Round round) const;

  const CheckpointDeskOptions options_;
  std::vector<Round> last_;   // of each rank
  std::vector<Round> begun_;  // in which each process began
  std::set<Rank> lost_;
  bool changed_ = false;
  std::set<Round> called_;  // after the last that all have reported
  std::map<Round, std::map<Rank, control::SavedPart>> open_;
  std::deque<Complete> waiting_;  // with all parts
  Round measured_;
  Round inherited_ = 0;
  std::optional<Round> end_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_COORDINATED_CHECKPOINTS_H_
