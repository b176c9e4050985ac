// The right to write a run's files: that of whoever has rank 0's role at the moment of each change.
//
// Where the role is held by a lease (node/discovery/role_lease.h), another node may write once that
// has lapsed, and whoever had it before, which may have stood still in the middle of a file, must
// not put its own in the place of newer ones. So every rename and every append of the run's files
// asks just before, and waits where the lease may come back. A node's own files (node-RANK/) are
// its alone, and ask nobody.
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
  // By whose lease; null, or without one: by none, and the right is never lost.
  std::shared_ptr<Discovery> place;
  // Whether the directory's lock is to be taken, which no other process of the run keeps. Whoever
  // had the role before may have it still, until it ends: the changes do not wait for it.
  bool locks = false;
  // How long a change waits for a lease that may come back.
  std::chrono::nanoseconds patience{};
};

// The guard may outlive everything else, is thread-safe, and keeps the lock while any copy lives.
// Its own errors are kPeerLost.
WriteGuard WriteRight(WriteRightOptions options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_WRITE_RIGHT_H_
