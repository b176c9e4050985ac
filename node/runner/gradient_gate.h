// When a gradient may begin.
//
// Usually when it is asked for. While a model is held for its evaluation it waits
// until the messages of earlier rounds have left: a late neighbour's replica and a
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
#include <utility>
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

  void OnSend(Rank to, Round round) { ++unsent_[{round, to}]; }
  // CHECKs that a message of that round is on its way there.
  void OnSent(Rank to, Round round);

  // The gradient that was asked for, once, if it may begin.
  std::optional<GradientRequest> Admit(bool model_held);

  // The ranks that have yet to take messages of earlier rounds than that of a gradient
  // that was asked for and has not begun.
  std::set<Rank> WaitingFor() const;

 private:
  std::optional<GradientRequest> request_;
  std::map<std::pair<Round, Rank>, int64_t> unsent_;  // messages on their way
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_GATE_H_
