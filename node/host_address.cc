#include "node/host_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "run/failure.h"

namespace grapevine {
namespace {

absl::Status BadAddress(std::string_view text, std::string_view what) {
  return WithFailure(absl::InvalidArgumentError(
                         absl::StrCat("address \"", std::string(text), "\": ", std::string(what),
                                      "; expected HOST:PORT or [IPV6]:PORT")),
                     Failure::kUsage);
}

}  // namespace

bool ParsePort(std::string_view text, int* port) {
  // SimpleAtoi would take blanks and signs.
  if (text.empty() || text.size() > 5) return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(std::string(text), port) && *port <= 65535;
}

absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text, "the port is missing");
  HostAddress address;
  if (!ParsePort(text.substr(colon + 1), &address.port)) {
    return BadAddress(text, "the port is not a number from 0 to 65535");
  }
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find_first_of(":[]") != std::string_view::npos) {
    return BadAddress(text, "an IPv6 address needs brackets");
  }
  for (const char c : host) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c)) || c == '/') {
      return BadAddress(text, "the host is not a name or an IP address");
    }
  }
  address.host = std::string(host);
  return address;
}

std::string FormatHostAddress(const HostAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", address.host, "]:", address.port)
            : absl::StrCat(address.host, ":", address.port);
}

bool IsLoopback(std::string_view host) {
  const std::string name(host);
  if (name == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace grapevine
