// host:port, as flags, host files and rosters write it; and on the way of a node's address
// to its peers: advertised by the node, completed by rank 0, dialled by the others.
//
// A node that listens everywhere cannot say under which address the others
// reach it. Rank 0 sees from where it comes; but what comes from rank 0's own
// machine comes over loopback, and rank 0 itself from nowhere. Each of the
// others knows one name of that machine: the one under which it found rank 0.
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

// What a node advertises that was told `wanted` (empty parts: nothing) and
// listens on `bound`. An empty host means: the one it is seen to come from.
HostAddress AdvertisedAddress(HostAddress wanted, const HostAddress& bound);

// The host in gRPC's "ipv4:10.0.0.7:41234" or "ipv6:%5B::1%5D:41234"; empty for
// connections without one, in process.
std::string HostOfConnection(std::string_view peer);

// Where a node dials the one that the roster has at `told`, when it reached
// rank 0 at `rank_zero`.
HostAddress DialledAddress(HostAddress told, const HostAddress& rank_zero);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_HOST_ADDRESS_H_
