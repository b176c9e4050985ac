// Rank 0 names rounds after which all nodes save what they have: when a time has passed since the
// last one, or at once when the run is to end. Without I/O.
//
// Nodes are in different rounds, and all must save after the same. So they are asked how far they
// may go (Prepare), which they keep to until they hear more, and the round is the first that none
// of them can have completed; never the last, which there is no going on from. They have leave for
// a few rounds ahead, so that none waits for that (node/runner/round_leave.h).
//
// A checkpoint is not called for by the time before the last one is complete: on a disk that is
// slower they come as fast as it takes them.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_
#define GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/steady_time.h"

namespace grapevine {

struct CheckpointCallsOptions {
  Rank nodes = 1;
  Round rounds = 0;  // of the run, at most
  Round begin = 0;   // the checkpoint that it goes on from
  // From one to the next, and from the start to the first; none: only on demand.
  std::optional<std::chrono::nanoseconds> every;
};

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

  // Whether none comes any more, as the run ends before.
  bool over() const { return over_; }

  // What all nodes are to be told (kPrepare, kCheckpointAt), once each.
  std::optional<control::Directive> Take() { return std::exchange(directive_, std::nullopt); }

 private:
  void Ask();
  // All have promised.
  void Name();

  const CheckpointCallsOptions options_;
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

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_
