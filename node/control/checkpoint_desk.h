// Rank 0's part of a run's checkpoints: which nodes have their parts, and when one is complete.
// Without I/O.
//
// A checkpoint is complete when all nodes' parts of it are on their disks, and the run's metrics
// have all evaluations until its round, on which the rest of the run may depend. Nodes report in
// the order of the rounds. Of those that wait for metrics, or to be taken, the last kMostWaiting
// stay: as many as a run keeps.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_
#define GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_

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

struct CheckpointDeskOptions {
  Rank nodes = 1;
  Round rounds = 0;  // of the run
  Round begin = 0;   // the checkpoint that it goes on from
  // Whether all nodes save what they have after so many rounds, wherever nobody calls for it (none:
  // never), and whether their models are evaluated then.
  std::function<bool(Round)> saved;
  std::function<bool(Round)> evaluated;
};

class CheckpointDesk {
 public:
  struct Complete {
    Round round = 0;
    std::vector<control::SavedPart> parts;  // by rank
  };

  explicit CheckpointDesk(CheckpointDeskOptions options);

  // All nodes are told to save what they have after this round (node/control/checkpoint_calls.h).
  void OnCalled(Round round) { called_.insert(round); }
  // A node's part is on its disk. Errors name the rank and what it cannot have.
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
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

  absl::Status CheckPart(Rank rank, const control::SavedPart& part) const;
  bool Saved(Round round) const;
  bool MayComplete(Round round) const;

  const CheckpointDeskOptions options_;
  std::vector<Round> last_;  // of each rank
  std::set<Round> called_;   // after the last that all have reported
  std::map<Round, std::map<Rank, control::SavedPart>> open_;
  std::deque<Complete> waiting_;  // with all parts
  Round measured_;
  std::optional<Round> end_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CHECKPOINT_DESK_H_
