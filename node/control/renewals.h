// The checkpoints of nodes that share a budget of gradients.
//
// Such nodes save as they go over to a view with the same members (View::checkpoint), since nothing
// is in flight between two views. This costs each node the gradient under way, which is computed
// again, and the time until all have ended their exchanges. A checkpoint is named after a nominal
// round that all have measured, and no other before that one is complete, unless it is demanded.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_RENEWALS_H_
#define GRAPEVINE_NODE_CONTROL_RENEWALS_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include "base/ids.h"
#include "node/control/control_protocol.h"

namespace grapevine {

// The times at which all nodes save that share a budget of gradients (budget_desk.h).
struct RenewalsOptions {
  Round begin = 0;  // the checkpoint that the run goes on from
  // Either the nominal rounds after which nodes save, or the time from one checkpoint to the next
  // and from the start to the first. Neither: only on demand.
  std::function<bool(Round)> saved = nullptr;
  std::optional<std::chrono::nanoseconds> every = std::nullopt;
};

class Renewals {
 public:
  // The run begins at `now`.
  Renewals(RenewalsOptions options, SteadyTime now);

  void OnTime(SteadyTime now) { now_ = now; }
  // Asks for a checkpoint as soon as possible, or for the one that is under way.
  void Demand() { demanded_ = !under_way(); }
  // Reports that `passed` nominal rounds are over.
  void OnPassed(Round passed);
  // Reports that a checkpoint is complete.
  void OnComplete(Round round) { complete_ = std::max(complete_, round); }

  // Returns the round of a checkpoint that is due, until it is named.
  std::optional<Round> due() const { return due_; }
  void Name();
  // Returns the checkpoint that is named and not complete.
  std::optional<Round> under_way() const {
    return complete_ < named_ ? std::optional(named_) : std::nullopt;
  }

 private:
  const RenewalsOptions options_;
  SteadyTime now_;
  SteadyTime last_;  // time of the last naming
  bool demanded_ = false;
  std::optional<Round> due_;
  Round passed_;
  Round named_;
  Round complete_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_RENEWALS_H_
