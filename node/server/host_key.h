// By what the hosts of callers are told apart where each may have a share of something: an IPv4
// address, or the 64 bits of an IPv6 one that name its network, since who has one of those has all.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_SERVER_HOST_KEY_H_
#define GRAPEVINE_NODE_SERVER_HOST_KEY_H_

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace grapevine {

// Of an address as text; empty for what is none.
std::string HostKey(std::string_view address);

// Of a socket's address; empty for one of no network.
std::string HostKey(const sockaddr_storage& address);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_HOST_KEY_H_
