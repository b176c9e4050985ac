// The address of a node on the way to its peers: advertised by the node,
// completed by rank 0, dialled by the others.
//
// A node that listens everywhere cannot say under which address the others
// reach it. Rank 0 sees from where it comes; but what comes from rank 0's own
// machine comes over loopback, and rank 0 itself from nowhere. Each of the
// others knows one name of that machine: the one under which it found rank 0.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_IDENTITY_PEER_ADDRESS_H_
#define GRAPEVINE_NODE_IDENTITY_PEER_ADDRESS_H_

#include <string>
#include <string_view>

#include "node/identity/host_address.h"

namespace grapevine {

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

#endif  // GRAPEVINE_NODE_IDENTITY_PEER_ADDRESS_H_
