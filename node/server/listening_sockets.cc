#include "node/server/listening_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(const HostAddress& address, const std::string& reason,
                          std::string_view remedy) {
  return WithFailure(
      absl::UnavailableError(absl::StrCat("cannot listen on ", FormatHostAddress(address), ": ",
                                          reason, "; ", std::string(remedy))),
      Failure::kRendezvous);
}

void Set(const UniqueDescriptor& socket, int level, int option, int value) {
  (void)setsockopt(socket.get(), level, option, &value, sizeof(value));
}

int PortOf(const UniqueDescriptor& socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

// Returns a listening socket; an invalid descriptor, with errno, if the address is not available.
UniqueDescriptor Listen(const addrinfo& at, int port, std::chrono::milliseconds timeout) {
  UniqueDescriptor listener(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0) return listener;
  // A port in TIME_WAIT may be bound.
  Set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  // The following options are inherited by the connections.
  Set(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout.count()));
  if (at.ai_family == AF_INET6) Set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_storage address{};
  std::memcpy(&address, at.ai_addr, at.ai_addrlen);
  reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<uint16_t>(port));
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), at.ai_addrlen) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    return UniqueDescriptor();
  }
  return listener;
}

}  // namespace

absl::StatusOr<ListeningSockets> ListenOn(const HostAddress& address,
                                          std::chrono::milliseconds timeout,
                                          std::string_view remedy) {
  const bool everywhere = IsEverywhere(address.host);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(everywhere ? nullptr : address.host.c_str(), "0", &hints, &found);
  if (error != 0) return CannotListen(address, gai_strerror(error), remedy);
  const Addresses addresses(found, freeaddrinfo);
  ListeningSockets sockets{.descriptors = {}, .port = address.port};
  int reason = 0;
  // The IPv6 wildcard takes IPv4 too: where it is available, the IPv4 wildcard is not needed.
  for (const bool wanted_v6 : {true, false}) {
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
      if ((at->ai_family == AF_INET6) != wanted_v6) continue;
      if (everywhere && !sockets.descriptors.empty()) break;
      UniqueDescriptor listener = Listen(*at, sockets.port, timeout);
      if (listener.get() < 0) {
        reason = errno;
        if (reason == EADDRINUSE) return CannotListen(address, std::strerror(reason), remedy);
        continue;
      }
      sockets.port = PortOf(listener);
      sockets.descriptors.push_back(std::move(listener));
    }
  }
  if (sockets.descriptors.empty()) return CannotListen(address, std::strerror(reason), remedy);
  return sockets;
}

}  // namespace grapevine
