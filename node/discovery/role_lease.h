// The right to act for a run, of whoever has rank 0's role by a lease in a store
// (node/store/store.h, HeldKey): to agree upon who is in it, and to write its files.
//
// A lease that has not been renewed for its time to live has lapsed: another node may have the role
// by now. Whoever held it decides and writes nothing until the store has given it back, which it
// does only if nobody else has had the role meanwhile.
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

  // OK while this process has the role at this moment. Else kPeerLost: which store no longer says
  // so, since when, and why. Never waits.
  virtual absl::Status Check() = 0;
  // Waits until Check is OK. Its error at once if another has the role or this process has given it
  // up, and at `deadline`.
  virtual absl::Status Await(std::chrono::steady_clock::time_point deadline) = 0;
  // From now on: another has taken the role, or had it meanwhile. From a thread of its own, which
  // must not call this; never once another call has returned. Null: nobody is told.
  virtual void OnSuperseded(std::function<void(const absl::Status& why)> told) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_ROLE_LEASE_H_
