#include "experiment/real/node_addresses.h"

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

NodeIdentity IdentityOf(Rank rank, const std::string& master) {
  return {.rank = {rank, "--rank"},
          .world_size = {4, "--world-size"},
          .local_rank = {0, "default"},
          .master_host = {master, "--master-addr"},
          .master_port = {29500, "default"},
          .slot = std::nullopt};
}

HostAddress BindOf(const Config& config, const NodeIdentity& identity) {
  const auto addresses = AddressesOf(config, identity, false);
  EXPECT_TRUE(addresses.ok()) << addresses.status();
  return addresses.ok() ? addresses->bind : HostAddress{};
}

TEST(NodeAddresses, ListensWhereRankZeroIsFound) {
  const std::pair<const char*, const char*> cases[] = {{"node1", "0.0.0.0"},
                                                       {"10.0.0.1", "0.0.0.0"},
                                                       {"fd00::7", "0.0.0.0"},
                                                       {"localhost", "127.0.0.1"},
                                                       {"127.0.0.1", "127.0.0.1"},
                                                       {"127.0.0.5", "127.0.0.5"},
                                                       {"::1", "::1"}};
  for (const auto& [master, bind] : cases) {
    EXPECT_EQ(BindOf({}, IdentityOf(0, master)), (HostAddress{bind, 29500})) << master;
    EXPECT_EQ(BindOf({}, IdentityOf(1, master)), (HostAddress{bind, 0})) << master;
  }
}

TEST(NodeAddresses, FlagsReplaceThePartsThatTheyName) {
  const std::pair<const char*, HostAddress> cases[] = {
      {"10.0.0.1", {"10.0.0.1", 29500}},     {":5000", {"0.0.0.0", 5000}},
      {"10.0.0.1:5000", {"10.0.0.1", 5000}}, {"fd00::7", {"fd00::7", 29500}},
      {"[fd00::7]", {"fd00::7", 29500}},     {"[fd00::7]:5000", {"fd00::7", 5000}}};
  for (const auto& [text, address] : cases) {
    Config config;
    config.set_bind(text);
    EXPECT_EQ(BindOf(config, IdentityOf(0, "node1")), address) << text;
  }
  Config config;
  config.set_bind("node1:http");
  EXPECT_EQ(FailureOf(AddressesOf(config, IdentityOf(0, "node1"), false).status()),
            Failure::kUsage);
}

TEST(NodeAddresses, ListensWhereItIsAdvertised) {
  const std::pair<const char*, HostAddress> cases[] = {
      {"127.0.0.2", {"127.0.0.2", 0}},      {"127.0.0.1", {"127.0.0.1", 0}},
      {"localhost", {"127.0.0.1", 0}},      {"::1", {"::1", 0}},
      {"127.0.0.2:7000", {"127.0.0.1", 0}},  // there may be a relay
      {"192.0.2.1", {"127.0.0.1", 0}},       // no address of this machine
      {"node7", {"127.0.0.1", 0}}};
  for (const auto& [text, bind] : cases) {
    Config config;
    config.set_advertise(text);
    EXPECT_EQ(BindOf(config, IdentityOf(1, "127.0.0.1")), bind) << text;
  }
  Config config;
  config.set_advertise("127.0.0.2");
  config.set_bind(":7000");
  EXPECT_EQ(BindOf(config, IdentityOf(1, "localhost")), (HostAddress{"127.0.0.2", 7000}));
  config.set_bind("0.0.0.0");
  EXPECT_EQ(BindOf(config, IdentityOf(1, "localhost")), (HostAddress{"0.0.0.0", 0}));
}

TEST(NodeAddresses, WhatIsBoundServesWhatIsAdvertised) {
  Config config;
  config.set_advertise("127.0.0.2");
  // Rank 0 is looked for at another address than that.
  const absl::Status place = AddressesOf(config, IdentityOf(0, "localhost"), false).status();
  EXPECT_EQ(FailureOf(place), Failure::kUsage);
  config.set_bind("127.0.0.1");
  const absl::Status bind = AddressesOf(config, IdentityOf(1, "node1"), false).status();
  EXPECT_EQ(FailureOf(bind), Failure::kUsage);
  for (const absl::Status& why : {place, bind}) {
    EXPECT_THAT(std::string(why.message()),
                ::testing::AllOf(::testing::HasSubstr("listen on 127.0.0.1"),
                                 ::testing::HasSubstr("dialled at 127.0.0.2"),
                                 ::testing::HasSubstr("--bind=0.0.0.0")));
  }
  config.set_advertise("node1:7000");
  EXPECT_EQ(BindOf(config, IdentityOf(1, "node1")), (HostAddress{"127.0.0.1", 0}));
}

}  // namespace
}  // namespace grapevine
