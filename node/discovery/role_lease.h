// RoleLease is the right to act for a run: to agree upon its members, and to write its files. The
// node that has rank 0's role holds this right by a lease in a store (node/store/store.h, HeldKey).
//
// A lease that has not been renewed for its time to live has lapsed: another node may have the role
// by now. The node that held the lease decides and writes nothing until the store has given the
// lease back, which the store does only if no other node has had the role meanwhile.
#ifndef GRAPEVINE_NODE_DISCOVERY_ROLE_LEASE_H_
#define GRAPEVINE_NODE_DISCOVERY_ROLE_LEASE_H_

#include <chrono>
#include <functional>

#include "absl/status/status.h"

namespace grapevine {

// Thread-safe.
class RoleLease {
 public:
  virtual ~RoleLease() = default;

  // Returns OK if this process has the role at this moment. Otherwise returns kPeerLost, which says
  // which store no longer confirms the role, since when, and why. Never waits.
  virtual absl::Status Check() = 0;
  // Waits until Check returns OK. Returns the error of Check after `patience`, or at once if
  // another node has the role or this process has given it up. A standstill of this process, or of
  // its machine, counts little: the lease may come back as soon as it is over.
  virtual absl::Status Await(std::chrono::nanoseconds patience) = 0;
  // Sets the function to call when another node has taken the role, or has had it meanwhile; null
  // for none. `told` is called on a thread of its own and must not call this object. Once another
  // OnSuperseded has returned, the function set before is not called any more.
  virtual void OnSuperseded(std::function<void(const absl::Status& why)> told) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_ROLE_LEASE_H_
