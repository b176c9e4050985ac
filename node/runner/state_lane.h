// The states of a node that its runner saves while its rounds go on.
//
// A state is copied at its boundary; messages that it includes are added when they arrive. Complete
// states are handed over one at a time, in the order of their rounds. One that waits for an earlier
// one to be written holds the node up (`behind`): so little memory is enough, and no node skips
// what others save.
//
// Thread-compatible: the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_STATE_LANE_H_
#define GRAPEVINE_NODE_RUNNER_STATE_LANE_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "algorithm/event.h"
#include "kernels/vector/vector_handle.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {

// A node at a boundary, and what it had sent and received by then: payload of the algorithm's
// messages of all rounds until there.
struct SavedNode {
  NodeState state;
  Round checkpoint = 0;  // of which it is a part: the state's round where there are rounds
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  std::chrono::steady_clock::time_point at;  // when it was there
};

class StateLane {
 public:
  // One more is being saved: `counted` has no state yet. The algorithm is to visit the saver.
  StateSaver& Begin(Round completed, Vec model, SavedNode counted, StateSaver::Copy copy);

  // Every message, before the algorithm hears of it.
  void OnReceived(const Received& event);
  // Likewise one that does not come any more.
  void OnLost(const Lost& event);

  // The next complete one, if none is out; it is out until Release.
  std::optional<SavedNode> Take();
  void Release() { out_ = false; }

  // Whether a complete one waits for an earlier one.
  bool behind() const { return out_ && !open_.empty() && open_.front().saver->complete(); }

 private:
  struct Open {
    SavedNode counted;
    std::unique_ptr<StateSaver> saver;
  };

  // Each waits for no message that a later one does not wait for: the first is complete first.
  std::deque<Open> open_;
  bool out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_STATE_LANE_H_
