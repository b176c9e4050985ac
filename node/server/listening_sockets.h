// The sockets on which a node listens: one for each address that its host has, all
// with one port.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_
#define GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_

#include <chrono>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "system/unique_descriptor.h"

namespace grapevine {

struct ListeningSockets {
  std::vector<UniqueDescriptor> descriptors;  // at least one; non-blocking
  int port = 0;
};

// Port 0: the system chooses. 0.0.0.0 and :: mean every address of this machine. What
// connects and leaves bytes unacknowledged for `timeout` is gone. kRendezvous names
// the address, the system's reason and the remedy.
absl::StatusOr<ListeningSockets> ListenOn(const HostAddress& address,
                                          std::chrono::milliseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_
