#include "node/server/host_connections.h"

#include <algorithm>

#include "node/server/host_key.h"

namespace grapevine {
namespace {

// Returns the cookie of a socket; 0 if `descriptor` is not a socket.
uint64_t CookieOf(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

}  // namespace

bool HostConnections::IsOpen(const Connection& connection) {
  return CookieOf(connection.descriptor) == connection.cookie;
}

bool HostConnections::Admit(int connection, const sockaddr_storage& from) {
  std::vector<Connection>& open = of_[HostKey(from)];
  // Closed connections are removed rarely, so that not every caller costs a pass over all
  // connections of its host.
  if (open.size() >= share_ || open.size() == open.capacity()) {
    std::erase_if(open, [](const Connection& known) { return !IsOpen(known); });
    std::erase_if(
        of_, [&](const auto& entry) { return entry.second.empty() && &entry.second != &open; });
  }
  if (open.size() >= share_) return false;
  open.push_back({connection, CookieOf(connection)});
  return true;
}

}  // namespace grapevine
