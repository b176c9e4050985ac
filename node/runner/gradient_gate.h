// When a gradient may begin.
//
// Usually when it is asked for. While a model is held for its evaluation it waits
// until the messages that were sent before have left: a late neighbour's replica and a
// model on its way to be evaluated would both be kept beside what a round needs,
// one vector above the bound on a node's memory (docs/benchmarks.md). That ends by
// itself: peers can take messages of earlier rounds whatever this node does next.
//
// Thread-compatible: the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_GRADIENT_GATE_H_
#define GRAPEVINE_NODE_RUNNER_GRADIENT_GATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "algorithm/event.h"
#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

struct GradientRequest {
  SharedVector at;
  Vec into;  // gets its memory when the gradient begins
  Round round = 0;
  std::vector<int64_t> cuts;
};

class GradientGate {
 public:
  // One at a time.
  void Ask(GradientRequest request);

  // Sends are told in the order of their ids.
  void OnSend(SendId id, Rank to) { unsent_.emplace(id, to); }
  // CHECKs that the message is on its way.
  void OnSent(SendId id);

  // The gradient that was asked for, once, if it may begin.
  std::optional<GradientRequest> Admit(bool model_held);

  // The ranks that have yet to take messages sent before a gradient was asked for that has
  // not begun.
  std::set<Rank> WaitingFor() const;

 private:
  // Whether there is a request, and the message was sent before it.
  bool Precedes(SendId id) const { return request_ && id <= asked_after_; }

  std::optional<GradientRequest> request_;
  SendId asked_after_;             // the last of these was sent before the request
  std::map<SendId, Rank> unsent_;  // messages on their way
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_GATE_H_
