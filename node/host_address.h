// host:port, as flags, host files and rosters write it.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_HOST_ADDRESS_H_
#define GRAPEVINE_NODE_HOST_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

struct HostAddress {
  std::string host;  // a name or an IP address, an IPv6 one without brackets; may be empty
  int port = 0;      // 0: the system chooses

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

// Reads "host:port", "[v6]:port" and ":port". kUsage for anything else; the
// message holds the text and the form that is expected.
absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text);

// The reverse; brackets around an IPv6 address.
std::string FormatHostAddress(const HostAddress& address);

// Reads a port, 0 to 65535.
bool ParsePort(std::string_view text, int* port);

// Whether `host` can only be this machine: "localhost", 127.0.0.0/8, ::1.
bool IsLoopback(std::string_view host);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_HOST_ADDRESS_H_
