// Ports of this machine, for nodes that are started one by one.
#ifndef GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_
#define GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "system/file_descriptor.h"

namespace grapevine::testing {

inline sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that is taken while this lives, without TIME_WAIT afterwards.
class TakenPort {
 public:
  TakenPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_.get(), 1), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

 private:
  UniqueDescriptor socket_;
  int port_ = 0;
};

// The lowest port that the system assigns by itself.
inline int FirstEphemeralPort() {
  constexpr int kUsual = 32768;
  int first = 0;
  return std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first ? first : kUsual;
}

inline bool CanListen(int port) {
  const UniqueDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = Loopback(port);
  return bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// Claims a name among all processes of the network namespace until it is closed; not open if
// somebody else has the name.
inline UniqueDescriptor TakeName(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);  // abstract: it begins with 0
  UniqueDescriptor holder(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(holder.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) holder.Close();
  return holder;
}

// So many ports in a row on which nobody listens, and which nobody else gets while this process
// lives: the system does not assign them, and other tests see that they are taken. The first one.
inline int FreePorts(int count) {
  static std::vector<UniqueDescriptor> taken;
  constexpr int kLowest = 10000;
  const int ports = FirstEphemeralPort() - kLowest;
  std::vector<UniqueDescriptor> row;
  for (int i = 0; i < ports; ++i) {
    const int port = kLowest + (getpid() + i) % ports;
    if (port == kLowest) row.clear();
    UniqueDescriptor name = TakeName("grapevine-test-port-" + std::to_string(port));
    if (!name.open() || !CanListen(port)) {
      row.clear();
      continue;
    }
    row.push_back(std::move(name));
    if (static_cast<int>(row.size()) < count) continue;
    for (UniqueDescriptor& one : row) taken.push_back(std::move(one));
    return port - count + 1;
  }
  ADD_FAILURE() << "no " << count << " ports in a row are free below " << kLowest + ports;
  return 0;
}

inline int FreePort() { return FreePorts(1); }

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_
