// HostKey tells the hosts of callers apart where each host has a limited share of something. The
// key is an IPv4 address, or the 64 bits of an IPv6 address that name its network, since a host
// that has one address of the network has all of them.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_SERVER_HOST_KEY_H_
#define GRAPEVINE_NODE_SERVER_HOST_KEY_H_

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace grapevine {

// Returns the key of an address as text; empty if `address` is not an IP address.
std::string HostKey(std::string_view address);

// Returns the key of a socket's address; empty if its family is neither IPv4 nor IPv6.
std::string HostKey(const sockaddr_storage& address);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_HOST_KEY_H_
