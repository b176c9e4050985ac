// HostAddress is host:port, as flags, host files and rosters write it. A node's address reaches its
// peers in three steps: the node advertises it, rank 0 completes it, the others dial it.
//
// A node that listens on every address cannot know at which one the others reach it. Rank 0 sees
// the source address of the node's connection; but nodes on rank 0's own machine connect over
// loopback, and rank 0 itself over no network at all. Each of the other nodes knows one name of
// that machine: the one at which it reached rank 0.
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

// Reads "host:port", "[v6]:port" and ":port". Returns kUsage for anything else; the message quotes
// the text and gives the expected form.
absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text);

// Reads an address in which a host may stand alone ("node1", "::1", "[::1]"): its port is then
// `port_if_none`. Otherwise like ParseHostAddress(text).
absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text, int port_if_none);

// Returns the text that ParseHostAddress reads, with brackets around an IPv6 address.
std::string FormatHostAddress(const HostAddress& address);

// Reads a port, 0 to 65535, and returns whether `text` is one.
bool ParsePort(std::string_view text, int* port);

// Returns whether `host` can only be this machine: "localhost", 127.0.0.0/8, ::1.
bool IsLoopback(std::string_view host);

// Returns whether `host` is an IPv4 or IPv6 address, and no name.
bool IsIpAddress(std::string_view host);

// Returns whether `host` is a wildcard address, which cannot be dialled: 0.0.0.0, ::.
bool IsEverywhere(std::string_view host);

// Returns whether both hosts are IP addresses, or localhost, and differ.
bool AreDifferentAddresses(std::string_view one, std::string_view other);

// Returns what a node advertises that listens on `bound` and was told to advertise `wanted`, any
// part of which may be empty. An empty host in the result stands for the connection's source
// address.
HostAddress AdvertisedAddress(HostAddress wanted, const HostAddress& bound);

// Returns the host in gRPC's "ipv4:10.0.0.7:41234" or "ipv6:%5B::1%5D:41234"; empty for in-process
// connections, which have no host.
std::string HostOfConnection(std::string_view peer);

// Returns where a node that reached rank 0 at `rank_zero` dials a peer that the roster has at
// `told`.
HostAddress DialledAddress(HostAddress told, const HostAddress& rank_zero);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_HOST_ADDRESS_H_
