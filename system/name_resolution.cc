#include "system/name_resolution.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>

#include "absl/status/status.h"

namespace grapevine {

absl::StatusOr<std::vector<std::string>> AddressesOfName(const std::string& name) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(addresses, text) == addresses.end()) addresses.emplace_back(text);
  }
  freeaddrinfo(found);
  if (addresses.empty()) return absl::UnavailableError("it has no address");
  return addresses;
}

}  // namespace grapevine
