// host:port, as flags, host files and rosters write it.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_IDENTITY_HOST_ADDRESS_H_
#define GRAPEVINE_NODE_IDENTITY_HOST_ADDRESS_H_

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

// Likewise where a host may stand alone ("node1", "::1", "[::1]"): its port is
// then `port_if_none`.
absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text, int port_if_none);

// The reverse; brackets around an IPv6 address.
std::string FormatHostAddress(const HostAddress& address);

// Reads a port, 0 to 65535.
bool ParsePort(std::string_view text, int* port);

// Whether `host` can only be this machine: "localhost", 127.0.0.0/8, ::1.
bool IsLoopback(std::string_view host);

// Whether `host` stands for every address of a machine, and so for none that
// could be dialled: 0.0.0.0, ::.
bool IsEverywhere(std::string_view host);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_HOST_ADDRESS_H_
