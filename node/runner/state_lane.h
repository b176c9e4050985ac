// Saves the states of a node while its rounds go on.
//
// A state is copied at its boundary; messages that it includes are added when they arrive. Complete
// states are handed over one at a time, in the order of their rounds. A complete state that waits
// until an earlier one is written holds the node up (`behind`). Thus little memory suffices, and no
// node skips a state that others save.
//
// Thread-compatible: for the runner's thread.
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

// The state of a node at a boundary, and its traffic until then: payload of the algorithm's
// messages of all rounds so far.
struct SavedNode {
  NodeState state;
  // The checkpoint of which it is a part: the state's round, unless nodes do not go through rounds
  // together.
  Round checkpoint = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  std::chrono::steady_clock::time_point at;  // time of the boundary
};

class StateLane {
 public:
  // Begins another state; `counted` has no state yet. The algorithm must visit the returned saver.
  StateSaver& Begin(Round completed, Vec model, SavedNode counted, StateSaver::Copy copy);

  // Handles every received message, before the algorithm hears of it.
  void OnReceived(const Received& event);
  // Handles every message that will not come any more, before the algorithm hears of it.
  void OnLost(const Lost& event);

  // Returns the next complete state, unless one is out. The returned state is out until Release.
  std::optional<SavedNode> Take();
  void Release() { out_ = false; }

  // Returns whether a complete state waits for an earlier one.
  bool behind() const { return out_ && !open_.empty() && open_.front().saver->complete(); }

 private:
  struct Open {
    SavedNode counted;
    std::unique_ptr<StateSaver> saver;
  };

  // The states being saved. Each waits only for messages that later ones wait for, too: the first
  // is complete first.
  std::deque<Open> open_;
  bool out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_STATE_LANE_H_
