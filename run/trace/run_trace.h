// What the nodes of a run did, as a trace: one process per rank, with a lane each for rounds,
// gradients and exchange (mixing and waiting), and as many for sends and for receives as overlap.
// Simulated and real runs look alike.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_RUN_TRACE_RUN_TRACE_H_
#define GRAPEVINE_RUN_TRACE_RUN_TRACE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "run/trace/chrome_trace.h"

namespace grapevine {

// Nanoseconds since the start of the run, not negative.
struct TraceInterval {
  int64_t begin = 0;
  int64_t end = 0;
};

// Which message it is; the same at its sender and its receiver.
struct TraceMessage {
  Rank from = 0;
  Rank to = 0;
  uint16_t channel = 0;
  Round round = 0;
  uint32_t step = 0;
};

// Intervals of one rank and kind, except messages, come in ascending order and do not overlap.
class RunTrace {
 public:
  // `trace` outlives this and is finished by its owner.
  explicit RunTrace(ChromeTrace* trace) : trace_(trace) {}

  void Step(Rank rank, Round round, const TraceInterval& interval);
  void Gradient(Rank rank, Round round, const TraceInterval& interval);
  void Mix(Rank rank, const TraceInterval& interval);
  // Idle until a message of `peer` came.
  void Wait(Rank rank, Rank peer, const TraceInterval& interval);
  // From the first byte to the last, on either side.
  void Sent(const TraceMessage& message, int64_t bytes, const TraceInterval& interval);
  void Received(const TraceMessage& message, const TraceInterval& interval);

 private:
  // When the last slice of each lane of a kind ends.
  using Lanes = std::vector<int64_t>;
  struct Node {
    Lanes sends;
    Lanes receives;
  };

  Node& NodeOf(Rank rank);
  // A lane that is free from `interval.begin` on, if necessary a new one.
  ChromeTrace::Lane FreeLane(Rank rank, bool send, const TraceInterval& interval);

  ChromeTrace* const trace_;
  std::unordered_map<Rank, Node> nodes_;  // those seen so far
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_RUN_TRACE_H_
