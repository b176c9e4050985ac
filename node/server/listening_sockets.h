// The sockets on which a node listens, for gRPC or for monitoring.
//
// Stateless.
#ifndef GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_
#define GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_

#include <chrono>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "system/file_descriptor.h"

namespace grapevine {

// One listening socket for each address of a host, all with the same port.
struct ListeningSockets {
  std::vector<UniqueDescriptor> descriptors;  // at least one; non-blocking
  int port = 0;
};

// Listens on `address`. Port 0: the system chooses. 0.0.0.0 and :: mean every address of this
// machine. A connection that leaves bytes unacknowledged for `timeout` is dropped. kRendezvous
// names the address, the system's reason and `remedy`.
absl::StatusOr<ListeningSockets> ListenOn(const HostAddress& address,
                                          std::chrono::milliseconds timeout,
                                          std::string_view remedy);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_LISTENING_SOCKETS_H_
