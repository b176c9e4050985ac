#include "gtest/gtest.h"
#include "node/identity/host_address.h"

namespace grapevine {
namespace {

TEST(PeerAddress, ANodeAdvertisesWhatItIsToldOrWhereItListens) {
  const HostAddress bound{"10.0.0.2", 4000};
  EXPECT_EQ(AdvertisedAddress({}, bound), bound);
  EXPECT_EQ(AdvertisedAddress({"node2", 0}, bound), (HostAddress{"node2", 4000}));
  EXPECT_EQ(AdvertisedAddress({"", 9}, bound), (HostAddress{"10.0.0.2", 9}));
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    EXPECT_EQ(AdvertisedAddress({}, {everywhere, 4000}), (HostAddress{"", 4000}));
    EXPECT_EQ(AdvertisedAddress({"node2", 0}, {everywhere, 4000}), (HostAddress{"node2", 4000}));
  }
}

TEST(PeerAddress, TheHostOfAConnection) {
  EXPECT_EQ(HostOfConnection("ipv4:10.0.0.7:41234"), "10.0.0.7");
  EXPECT_EQ(HostOfConnection("ipv6:%5B::1%5D:41234"), "::1");
  EXPECT_EQ(HostOfConnection("ipv6:[fd00::7]:41234"), "fd00::7");
  EXPECT_EQ(HostOfConnection("ipv6:%5Bfe80::1%25eth0%5D:41234"), "fe80::1%eth0");
  for (const char* hostless : {"", "inproc", "unix:/tmp/socket", "ipv4:nonsense"}) {
    EXPECT_EQ(HostOfConnection(hostless), "") << hostless;
  }
}

TEST(PeerAddress, WhatIsBesideRankZeroIsDialledUnderRankZerosName) {
  const HostAddress node1{"node1", 29500};
  EXPECT_EQ(DialledAddress({"", 29500}, node1), node1);
  EXPECT_EQ(DialledAddress({"127.0.0.1", 4001}, node1), (HostAddress{"node1", 4001}));
  EXPECT_EQ(DialledAddress({"::1", 4001}, node1), (HostAddress{"node1", 4001}));
  EXPECT_EQ(DialledAddress({"10.0.0.2", 4002}, node1), (HostAddress{"10.0.0.2", 4002}));
  EXPECT_EQ(DialledAddress({"node3", 4003}, node1), (HostAddress{"node3", 4003}));
}

TEST(PeerAddress, OnOneMachineLoopbackStaysAsItIs) {
  EXPECT_EQ(DialledAddress({"127.0.0.1", 4001}, {"localhost", 29500}),
            (HostAddress{"127.0.0.1", 4001}));
  EXPECT_EQ(DialledAddress({"", 29500}, {"::1", 29500}), (HostAddress{"::1", 29500}));
}

}  // namespace
}  // namespace grapevine
