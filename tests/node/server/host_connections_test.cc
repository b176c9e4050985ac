// How many connections one host may have to a node's server.
#include "node/server/host_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "system/file_descriptor.h"

namespace grapevine {
namespace {

// A listener on loopback, and callers from its addresses.
class HostConnectionsTest : public ::testing::Test {
 protected:
  HostConnectionsTest() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.get(), Generic(&address_), sizeof address_), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    socklen_t size = sizeof address_;
    EXPECT_EQ(getsockname(listener_.get(), Generic(&address_), &size), 0);
  }

  // A connection from 127.0.0.HOST; -1 where it is not admitted, and closed.
  int Accept(HostConnections& hosts, unsigned host) {
    UniqueDescriptor caller(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in own = {};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xFFu) | host);
    EXPECT_EQ(bind(caller.get(), Generic(&own), sizeof own), 0);
    EXPECT_EQ(connect(caller.get(), Generic(&address_), sizeof address_), 0);
    callers_.push_back(std::move(caller));
    sockaddr_storage from = {};
    socklen_t size = sizeof from;
    UniqueDescriptor accepted(accept(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size));
    if (!hosts.Admit(accepted.get(), from)) return -1;
    accepted_.push_back(std::move(accepted));
    return accepted_.back().get();
  }

  static sockaddr* Generic(sockaddr_in* address) { return reinterpret_cast<sockaddr*>(address); }

  UniqueDescriptor listener_;
  sockaddr_in address_ = {};
  std::vector<UniqueDescriptor> callers_, accepted_;
};

TEST_F(HostConnectionsTest, EachHostHasItsShareAndGetsItBack) {
  HostConnections hosts(/*share=*/3);
  for (int i = 0; i < 3; ++i) EXPECT_GE(Accept(hosts, 2), 0);
  EXPECT_EQ(Accept(hosts, 2), -1);
  EXPECT_GE(Accept(hosts, 3), 0);
  accepted_[1].Close();
  EXPECT_GE(Accept(hosts, 2), 0);
  EXPECT_EQ(Accept(hosts, 2), -1);
  // A descriptor that has become another's does not count.
  const int number = accepted_[0].get();
  accepted_[0].Close();
  EXPECT_GE(Accept(hosts, 2), 0);
  EXPECT_EQ(callers_.back().get(), number) << "the system gives the lowest number that is free";
  EXPECT_EQ(Accept(hosts, 2), -1);
}

}  // namespace
}  // namespace grapevine
