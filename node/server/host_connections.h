// The connections that each host has to a node's server: none may have more than its share, so that
// no single stranger takes all of them.
//
// A connection counts until its descriptor is closed, by whoever owns that. Thread-compatible.
#ifndef GRAPEVINE_NODE_SERVER_HOST_CONNECTIONS_H_
#define GRAPEVINE_NODE_SERVER_HOST_CONNECTIONS_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace grapevine {

class HostConnections {
 public:
  // `share`: of one host.
  explicit HostConnections(size_t share) : share_(share) {}

  // Whether its host has a share left for this connection, which counts from now on if so.
  bool Admit(int connection, const sockaddr_storage& from);

 private:
  // A socket has a cookie of its own, its descriptor's number may be another's later.
  struct Connection {
    int descriptor;
    uint64_t cookie;
  };
  static bool IsOpen(const Connection& connection);

  const size_t share_;
  std::map<std::string, std::vector<Connection>> of_;  // by HostKey
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_HOST_CONNECTIONS_H_
