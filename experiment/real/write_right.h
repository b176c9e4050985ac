// The right to write a run's files. At each change, the node that has rank 0's role at that moment
// has the right.
//
// If the role is held by a lease (node/discovery/role_lease.h), another node may write once the
// lease has lapsed. The node that had the role before may have stood still in the middle of a file,
// and must not put its own file in the place of a newer one. So every rename and every append of
// the run's files asks for the right just before, and waits if the lease may come back. A node's
// own files (node-RANK/) belong to that node alone, and need no right.
#ifndef GRAPEVINE_EXPERIMENT_REAL_WRITE_RIGHT_H_
#define GRAPEVINE_EXPERIMENT_REAL_WRITE_RIGHT_H_

#include <chrono>
#include <memory>
#include <string>

#include "node/discovery/discovery.h"
#include "system/file.h"

namespace grapevine {

struct WriteRightOptions {
  std::string run_directory;
  // The place whose lease gives the right. If it is null, or has no lease, the right is never lost.
  std::shared_ptr<Discovery> place;
  // Whether to take the directory's lock, which no other process of the run keeps. The process that
  // had the role before may keep the lock until it ends; changes do not wait for it.
  bool locks = false;
  // How long a change waits for a lease that may come back.
  std::chrono::nanoseconds patience{};
};

// Returns a guard that permits changes while this process has the right. The guard may outlive
// everything else, is thread-safe, and keeps the lock while any copy lives. Its own errors are
// kPeerLost.
WriteGuard WriteRight(WriteRightOptions options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_WRITE_RIGHT_H_
