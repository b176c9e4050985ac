#include "node/identity/host_address.h"

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

TEST(HostAddress, ReadsWhatItWrites) {
  for (const char* text : {"localhost:1", "10.1.2.3:65535", "[::1]:0", "node-7.cluster:29500"}) {
    const auto address = ParseHostAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(FormatHostAddress(*address), text);
  }
  EXPECT_EQ(ParseHostAddress("[fe80::2]:80")->host, "fe80::2");
  EXPECT_EQ(ParseHostAddress(":80")->host, "");
}

TEST(HostAddress, RefusesTheRestByName) {
  for (const char* text :
       {"", "host", "host:", "host:x", "host:65536", "host:-1", "host: 1", "host:+1", "host:123456",
        "::1:80", "a b:80", "unix:/tmp/x:1", "[a[b]:80", "user@host:80", "-oProxyCommand=sh:80"}) {
    const auto address = ParseHostAddress(text);
    EXPECT_EQ(FailureOf(address.status()), Failure::kUsage) << text;
    EXPECT_THAT(std::string(address.status().message()),
                ::testing::HasSubstr("\"" + std::string(text) + "\""));
  }
}

TEST(HostAddress, ReadsAHostAloneWhereOneMayStandAlone) {
  const struct {
    const char* text;
    HostAddress address;
  } cases[] = {{"node1", {"node1", 7}},     {"node1:80", {"node1", 80}},
               {"::1", {"::1", 7}},         {"[::1]", {"::1", 7}},
               {"[::1]:80", {"::1", 80}},   {":80", {"", 80}},
               {"fd00::7", {"fd00::7", 7}}, {"", {"", 7}}};
  for (const auto& c : cases) {
    const auto address = ParseHostAddress(c.text, 7);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(*address, c.address) << c.text;
  }
  for (const char* text : {"host:", "host:x", "a b", "fd00::7::80", "[node1", "a/b", "-v", "a@b"}) {
    EXPECT_EQ(FailureOf(ParseHostAddress(text, 7).status()), Failure::kUsage) << text;
  }
}

TEST(HostAddress, KnowsWhatIsEverywhere) {
  for (const char* host : {"0.0.0.0", "::", "0:0::0"}) EXPECT_TRUE(IsEverywhere(host)) << host;
  for (const char* host : {"", "::1", "127.0.0.1", "node-1"}) {
    EXPECT_FALSE(IsEverywhere(host)) << host;
  }
}

TEST(HostAddress, KnowsLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.8.8", "::1"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"", "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.org", "node-1"}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(HostAddress, ANodeAdvertisesWhatItIsToldOrWhereItListens) {
  const HostAddress bound{"10.0.0.2", 4000};
  EXPECT_EQ(AdvertisedAddress({}, bound), bound);
  EXPECT_EQ(AdvertisedAddress({"node2", 0}, bound), (HostAddress{"node2", 4000}));
  EXPECT_EQ(AdvertisedAddress({"", 9}, bound), (HostAddress{"10.0.0.2", 9}));
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    EXPECT_EQ(AdvertisedAddress({}, {everywhere, 4000}), (HostAddress{"", 4000}));
    EXPECT_EQ(AdvertisedAddress({"node2", 0}, {everywhere, 4000}), (HostAddress{"node2", 4000}));
  }
}

TEST(HostAddress, TheHostOfAConnection) {
  EXPECT_EQ(HostOfConnection("ipv4:10.0.0.7:41234"), "10.0.0.7");
  EXPECT_EQ(HostOfConnection("ipv6:%5B::1%5D:41234"), "::1");
  EXPECT_EQ(HostOfConnection("ipv6:[fd00::7]:41234"), "fd00::7");
  EXPECT_EQ(HostOfConnection("ipv6:%5Bfe80::1%25eth0%5D:41234"), "fe80::1%eth0");
  for (const char* hostless : {"", "inproc", "unix:/tmp/socket", "ipv4:nonsense"}) {
    EXPECT_EQ(HostOfConnection(hostless), "") << hostless;
  }
}

TEST(HostAddress, WhatIsBesideRankZeroIsDialledUnderRankZerosName) {
  const HostAddress node1{"node1", 29500};
  EXPECT_EQ(DialledAddress({"", 29500}, node1), node1);
  EXPECT_EQ(DialledAddress({"127.0.0.1", 4001}, node1), (HostAddress{"node1", 4001}));
  EXPECT_EQ(DialledAddress({"::1", 4001}, node1), (HostAddress{"node1", 4001}));
  EXPECT_EQ(DialledAddress({"10.0.0.2", 4002}, node1), (HostAddress{"10.0.0.2", 4002}));
  EXPECT_EQ(DialledAddress({"node3", 4003}, node1), (HostAddress{"node3", 4003}));
}

TEST(HostAddress, OnOneMachineLoopbackStaysAsItIs) {
  EXPECT_EQ(DialledAddress({"127.0.0.1", 4001}, {"localhost", 29500}),
            (HostAddress{"127.0.0.1", 4001}));
  EXPECT_EQ(DialledAddress({"", 29500}, {"::1", 29500}), (HostAddress{"::1", 29500}));
}

}  // namespace
}  // namespace grapevine
