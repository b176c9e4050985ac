// How an edge whose connection has broken, or is not yet there, gets one: how long it may be
// without (EdgeInterruption), and when to dial the peer (DialAttempts).
//
// Time passes in ticks of this node's own clock, as for SilenceWatch.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_RECONNECTION_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_RECONNECTION_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "system/mutex.h"

namespace grapevine {

// One direction of an edge whose connection has broken: why, and for how long it may last.
//
// A connection that breaks before anything new has come over it has mended nothing: the time
// without one adds up until then. While it stands no time passes, because it may have nothing to
// carry.
//
// Thread-compatible: its link's lock guards it.
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

// When to dial a peer again, and when to give it up. Thread-safe.
class DialAttempts {
 public:
  // `timeout`: how long to go on trying (--rendezvous-timeout).
  DialAttempts(Rank peer, std::string address, std::chrono::milliseconds timeout)
      : peer_(peer), address_(std::move(address)), timeout_(timeout) {}

  // An attempt has failed for a reason that another one may mend.
  void Failed(const absl::Status& why);
  // `tick` has passed without a connection. Whether another attempt is to begin now; an error,
  // kRendezvous, when the peer is to be given up: it has never been connected.
  absl::StatusOr<bool> Tick(std::chrono::milliseconds tick);
  // The same where something else bounds the time: the connection was there before.
  bool TakeRetry();
  // "rank 3 (10.0.0.4:29500: connection refused)": the outcome so far.
  std::string Describe();

 private:
  const Rank peer_;
  const std::string address_;
  const std::chrono::milliseconds timeout_;
  Mutex mutex_;
  std::chrono::milliseconds trying_ ABSL_GUARDED_BY(mutex_){0};
  bool retry_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_RECONNECTION_H_
