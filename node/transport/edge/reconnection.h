// How an edge without a connection gets one. EdgeInterruption bounds the time that an edge may
// spend without a connection after its last one broke; DialAttempts says when to dial the peer.
//
// Time passes in ticks of this node's own clock; see SilenceWatch.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_RECONNECTION_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_RECONNECTION_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "system/mutex.h"

namespace grapevine {

// EdgeInterruption records why the connection of one direction of an edge has broken, and for how
// long the direction has been without one.
//
// A connection that breaks before anything new has come over it has mended nothing: the time
// without a connection adds up until something new comes. While a connection stands no time passes,
// because it may have nothing to carry.
//
// Thread-compatible: the lock of its link guards it.
class EdgeInterruption {
 public:
  // Records that the connection is gone. `why` names the peer. While the interruption lasts, the
  // first reason counts.
  void Begin(const absl::Status& why);
  // Records that an attempt to connect again has failed.
  void Failed(const absl::Status& how);
  // Records that the peer is connected again.
  void End();
  // Forgets the time without a connection, because something new has come or nothing waits.
  void Progress() { lasted_ = {}; }
  // Whether the direction is without a connection.
  bool lasts() const { return !why_.ok(); }

  // Records that `tick` has passed. Returns an error if the interruption has lasted for `timeout`
  // (--peer-timeout): the peer is to be given up.
  absl::Status Tick(std::chrono::milliseconds tick, std::chrono::milliseconds timeout);
  // Returns why the peer is given up: the reason of the interruption, `ending`, and the outcome of
  // the last attempt to connect.
  absl::Status Describe(const std::string& ending) const;

 private:
  absl::Status why_;
  absl::Status last_attempt_;
  bool again_ = false;  // an interruption came before this one, without progress since
  std::chrono::milliseconds lasted_{0};
};

// When to dial a peer again, and when to give it up. Thread-safe.
class DialAttempts {
 public:
  // `timeout` is the time to go on trying (--rendezvous-timeout).
  DialAttempts(Rank peer, std::string address, std::chrono::milliseconds timeout)
      : peer_(peer), address_(std::move(address)), timeout_(timeout) {}

  // Records that an attempt has failed for a reason that may not last.
  void Failed(const absl::Status& why);
  // Records that `tick` has passed without a connection. Returns whether another attempt is to
  // begin now, or a kRendezvous error if the peer is to be given up: it has never been connected.
  absl::StatusOr<bool> Tick(std::chrono::milliseconds tick);
  // Returns whether another attempt is to begin now, for a peer that was connected before: its
  // EdgeInterruption bounds the time.
  bool TakeRetry();
  // Returns the outcome so far: "rank 3 (10.0.0.4:29500: connection refused)".
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
