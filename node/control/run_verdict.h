// How a run ends before its rounds are over: why, through whose fault, and who has yet to hear it.
//
// The verdict is on the run, or on the coordinator's own node alone, which then resigns: the others
// go on with another coordinator.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_RUN_VERDICT_H_
#define GRAPEVINE_NODE_CONTROL_RUN_VERDICT_H_

#include <set>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/blame.h"
#include "node/control/control.pb.h"
#include "node/control/dispatch.h"

namespace grapevine {

// Returns what a node hears for which the run is over. `others_go_on`: for that node alone.
control::Directive AbortDirective(const Blame& why, bool others_go_on = false);

class RunVerdict {
 public:
  // Directives go to `out`, which outlives the verdict.
  explicit RunVerdict(Dispatch* out) : out_(*out) {}

  // Passes the verdict on the run. At most one of this and Resign may be called, once.
  void Pass(const Blame& why);
  // Passes the verdict on the coordinator's own node, which is the culprit.
  void Resign(const Blame& why, bool others_go_on);
  // Returns why the run has ended, here at least; OK while there is no verdict.
  const absl::Status& status() const { return status_; }
  bool resigned() const { return resigned_; }

  // Tells a node the verdict, and closes its session.
  void Tell(SessionId session, Rank rank);
  // Notes that all ranks but 0 have yet to come and hear it.
  void AwaitAll(Rank world_size);
  // Returns whether a rank has yet to come.
  bool awaits() const { return !awaited_.empty(); }

 private:
  Dispatch& out_;
  absl::Status status_;
  control::Directive told_;
  std::set<Rank> awaited_;
  bool resigned_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_RUN_VERDICT_H_
