// The rounds after which all nodes of a run save their states.
//
// Names rounds when some time has passed since the last one, or at once when the run is to end.
//
// Nodes are in different rounds, and all must save after the same one. Therefore they are asked how
// far they may go (Prepare), which they keep to until they hear more. The named round is the first
// that no node can have completed, but never the last round, from which a run cannot go on. Nodes
// have leave for a few rounds ahead, so that none has to wait (node/runner/round_progress.h).
//
// The passage of time calls for no checkpoint before the last one is complete: on a slower disk,
// checkpoints come as fast as the disk takes them.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_
#define GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

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

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CHECKPOINT_CALLS_H_
