#include "node/server/host_key.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace grapevine {
namespace {

constexpr size_t kNetworkBytes = 8;

std::string BytesOf(const in6_addr& address, size_t from, size_t size) {
  return std::string(reinterpret_cast<const char*>(address.s6_addr) + from, size);
}

std::string KeyOf(const in_addr& address) {
  return std::string(reinterpret_cast<const char*>(&address), sizeof address);
}

std::string KeyOf(const in6_addr& address) {
  constexpr size_t kMapped = sizeof(in6_addr) - sizeof(in_addr);
  if (IN6_IS_ADDR_V4MAPPED(&address)) return BytesOf(address, kMapped, sizeof(in_addr));
  if (IN6_IS_ADDR_LOOPBACK(&address)) return BytesOf(address, 0, sizeof address);
  return BytesOf(address, 0, kNetworkBytes);
}

}  // namespace

std::string HostKey(std::string_view address) {
  const std::string host(address.substr(0, address.find('%')));  // without the scope of a link
  in_addr v4 = {};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return KeyOf(v4);
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return KeyOf(v6);
  return "";
}

std::string HostKey(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    return KeyOf(v4.sin_addr);
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    return KeyOf(v6.sin6_addr);
  }
  return "";
}

}  // namespace grapevine
