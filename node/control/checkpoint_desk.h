// Which nodes have their parts of a checkpoint, and when it is complete.
//
// A checkpoint is complete when the parts of all nodes, except lost ones, are on the nodes' disks,
// and the run's metrics have all evaluations up to its round, on which the rest of the run may
// depend. Nodes report in the order of the rounds. Of the checkpoints that wait for metrics, or to
// be taken, the last kMostWaiting stay: as many as a run keeps.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_
#define GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"

namespace grapevine {

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

#endif  // GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_
