// When to dial a peer again, and when to give it up.
//
// Time passes in ticks of this node's own clock, as for SilenceWatch.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_DIAL_ATTEMPTS_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_DIAL_ATTEMPTS_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "system/mutex.h"

namespace grapevine {

class DialAttempts {
 public:
  // `timeout`: how long to go on trying (--rendezvous-timeout).
  DialAttempts(Rank peer, std::string address, std::chrono::milliseconds timeout)
      : peer_(peer), address_(std::move(address)), timeout_(timeout) {}

  // An attempt has failed for a reason that another one may mend.
  void Failed(const absl::Status& why);
  // `tick` has passed without a connection. Whether another attempt is to begin now; an error when
  // the peer is to be given up.
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

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_DIAL_ATTEMPTS_H_
