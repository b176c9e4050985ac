// Ports of this machine, for nodes that are started one by one.
#ifndef GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_
#define GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "system/unique_descriptor.h"

namespace grapevine::testing {

inline sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that is taken while this lives, and free of TIME_WAIT afterwards.
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

inline int FreePort() { return TakenPort().port(); }

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_FREE_PORT_H_
