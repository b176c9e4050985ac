// One direction of an edge whose connection has broken: why, and for how long it may last.
//
// A connection that breaks before anything new has come over it has mended nothing: the time
// without one adds up until then. While it stands no time passes, because it may have nothing to
// carry.
//
// Time passes in ticks of this node's own clock, as for SilenceWatch.
//
// Thread-compatible: its link's lock guards it.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_INTERRUPTION_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_INTERRUPTION_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace grapevine {

class EdgeInterruption {
 public:
  // The connection is gone. `why` names the peer; while the interruption lasts, its first reason
  // counts.
  void Begin(const absl::Status& why);
  // An attempt to connect again has failed.
  void Failed(const absl::Status& how);
  // The peer is connected again.
  void End();
  // Something has come that had not before, or nothing waits: what has been does not count.
  void Progress() { lasted_ = {}; }
  bool lasts() const { return !why_.ok(); }

  // `tick` has passed. An error, when it has lasted for `timeout` (--peer-timeout): the peer is to
  // be given up.
  absl::Status Tick(std::chrono::milliseconds tick, std::chrono::milliseconds timeout);
  // The reason why the peer is given up now.
  absl::Status Describe(const std::string& ending) const;

 private:
  absl::Status why_;
  absl::Status last_attempt_;
  bool again_ = false;  // it was interrupted before, without progress since
  std::chrono::milliseconds lasted_{0};
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_INTERRUPTION_H_
