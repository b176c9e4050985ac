// A copy of a replica, for those that keep one or write over it.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_REPLICA_COPY_H_
#define GRAPEVINE_ALGORITHM_LOCAL_REPLICA_COPY_H_

#include "algorithm/host.h"

namespace grapevine {

// In a fresh vector, with this role (Host::New).
inline Vec CopyOf(Vec replica, const char* role, Host& host) {
  const Vec copy = host.New(host.replica_size(), role);
  const Term copied{1.0, host.Whole(replica)};
  host.Combine(host.Whole(copy), {&copied, 1});
  return copy;
}

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_REPLICA_COPY_H_
