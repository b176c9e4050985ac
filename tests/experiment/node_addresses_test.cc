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

}  // namespace
}  // namespace grapevine
