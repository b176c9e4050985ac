// HostConnections counts the connections that each host has to a node's server. No host may have
// more than its share, so that no single stranger takes all of them.
//
// A connection counts until the owner of its descriptor closes it. Thread-compatible.
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
  // `share` is the largest number of connections of one host.
  explicit HostConnections(size_t share) : share_(share) {}

  // Returns whether the host at `from` may have this connection, which counts from then on if so.
  bool Admit(int connection, const sockaddr_storage& from);

 private:
  // The cookie identifies the socket: another socket may have the same descriptor later.
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
