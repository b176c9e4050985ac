#include "node/telemetry/own_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/machine_names.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

TEST(OwnHosts, OneAddressHasNoOther) {
  const OwnHosts hosts{.listens = "10.0.0.4", .flag = "--dashboard"};
  for (const char* own : {"10.0.0.4", "10.0.0.4:8080", "localhost:8080"}) {
    EXPECT_TRUE(hosts.Have(own)) << own;
  }
  for (const char* strange : {"10.0.0.5", "evil.example", "", "[::", "a b"}) {
    EXPECT_FALSE(hosts.Have(strange)) << strange;
  }
  EXPECT_THAT(hosts.Refusal("evil.example"), HasSubstr("\"evil.example\" is no name of this port"));
  EXPECT_THAT(hosts.Refusal("evil.example"),
              HasSubstr("ask at 10.0.0.4, or name it in --dashboard=HOST:PORT or --advertise"));
}

// Prometheus asks at an address or at the machine's name; no page can have an address for a name.
TEST(OwnHosts, EveryAddressHasAllAddressesAndTheMachinesNames) {
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    const OwnHosts hosts{.listens = everywhere, .advertised = "Node3.Cluster", .flag = "--flag"};
    for (const char* own : {"10.0.0.5:9400", "[2001:db8::1]:9400", "localhost", "node3.cluster"}) {
      EXPECT_TRUE(hosts.Have(own)) << own;
    }
    EXPECT_TRUE(hosts.Have(HostNames().front() + ":9400"));
    EXPECT_FALSE(hosts.Have("evil.example"));
    EXPECT_THAT(hosts.Refusal("evil.example"), HasSubstr("ask at an IP address of this machine"));
  }
}

}  // namespace
}  // namespace grapevine
