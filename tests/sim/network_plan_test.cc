// From flags to a network model; the presets, and what docs/networks.md says of them.
#include "sim/network/network_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/status.h"
#include "sim/platform/platform_kind.h"
#include "system/file.h"
#include "tests/sim/network_driver.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NetworkPlan Plan(const NetworkRequest& request) {
  const auto plan = MakeNetworkPlan(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

std::string Error(const NetworkRequest& request, Failure failure = Failure::kUsage) {
  const auto plan = MakeNetworkPlan(request);
  EXPECT_FALSE(plan.ok());
  EXPECT_EQ(FailureOf(plan.status()), failure) << plan.status();
  return std::string(plan.status().message());
}

TEST(NetworkPlanTest, OneSwitchTakesTheFastModel) {
  const NetworkPlan plan = Plan({.nodes = 5});
  EXPECT_FALSE(plan.is_flow_level());
  EXPECT_EQ(plan.description(), "switch:bandwidth=1Gbit:latency=50us:loopback=80Gbit, model nic");
  EXPECT_EQ(Plan({.model = "queue", .nodes = 5}).description(),
            "switch:bandwidth=1Gbit:latency=50us:loopback=80Gbit, model queue");
  EXPECT_TRUE(Plan({.model = "flow", .nodes = 5}).is_flow_level());
  EXPECT_TRUE(Plan({.network = "racks:hosts=4", .nodes = 5}).is_flow_level());
  // A single rack is a switch.
  EXPECT_FALSE(Plan({.network = "racks", .model = "nic", .nodes = 5}).is_flow_level());
  EXPECT_FALSE(Plan({.placement = "shuffled", .nodes = 5}).is_flow_level());
  EXPECT_TRUE(Plan({.placement = "order:per-host=2", .nodes = 5}).is_flow_level());
}

TEST(NetworkPlanTest, BothModelsCarryMessages) {
  for (const char* model : {"nic", "flow"}) {
    const NetworkPlan plan =
        Plan({.model = model, .bandwidth = 8'000'000, .latency = 77, .nodes = 3});
    NetworkDriver driver;
    const auto network = plan.Make(&driver);
    EXPECT_EQ(network->Latency(0, 2), 77);
    EXPECT_THAT(driver.Run(*network, {{.from = 0, .to = 1, .bytes = 1000},
                                      {.from = 2, .to = 1, .bytes = 1000}}),
                ElementsAre(2'000'000, 2'000'000));
  }
}

TEST(NetworkPlanTest, TwoPacketsOfAMessageAreQueued) {
  // 40 bytes of each at a byte a microsecond, then the packets of the one and of the other.
  const NetworkPlan plan = Plan({.model = "queue", .bandwidth = 8'000'000, .nodes = 3});
  NetworkDriver driver;
  const auto network = plan.Make(&driver);
  EXPECT_THAT(driver.Run(*network, {{.from = 0, .to = 1, .bytes = 2960},
                                    {.from = 0, .to = 2, .bytes = 2960}}),
              ElementsAre(3'000'000, 5'920'000));
}

TEST(NetworkPlanTest, QueuesAreThoseOfFullDuplexInterfaces) {
  EXPECT_THAT(Error({.model = "queue", .half_duplex = true, .nodes = 4}),
              HasSubstr("queue: no model of half-duplex interfaces; take --network-model=nic"));
  EXPECT_THAT(Error({.network = "torus:3x3", .model = "queue", .nodes = 9}),
              HasSubstr("queue: no model of this network: it is for one switch"));
}

TEST(NetworkPlanTest, RanksGoWhereTheyArePlaced) {
  const NetworkPlan plan = Plan({.network = "racks:hosts=2:oversubscription=2:bandwidth=8Gbit",
                                 .placement = "order:per-host=2",
                                 .nodes = 8});
  EXPECT_THAT(plan.hosts(), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_EQ(plan.platform().hosts(), 4);
  NetworkDriver driver;
  const auto network = plan.Make(&driver);
  // On one host, in one rack, between racks (whose uplink is as fast as a host).
  EXPECT_THAT(driver.Run(*network, {{.from = 0, .to = 1, .bytes = 10'000},
                                    {.from = 2, .to = 0, .bytes = 1000},
                                    {.from = 4, .to = 3, .bytes = 1000}}),
              ElementsAre(1000, 1000, 1000));
}

TEST(NetworkPlanTest, EveryPresetLoads) {
  std::set<std::string> names;
  for (const PlatformKind* preset : Platforms().All()) {
    if (preset->preset.empty()) continue;
    SCOPED_TRACE(preset->name);
    names.insert(preset->name);
    EXPECT_FALSE(preset->source.empty());
    for (const Rank nodes : {1, 8, 112}) {
      const NetworkPlan plan = Plan({.network = preset->name, .nodes = nodes});
      NetworkDriver driver;
      const auto network = plan.Make(&driver);
      std::vector<TestMessage> ring;
      for (Rank rank = 0; rank < nodes; ++rank) {
        ring.push_back({.from = rank, .to = (rank + 1) % nodes, .bytes = 1e6});
      }
      for (const Nanoseconds left : driver.Run(*network, ring)) EXPECT_GT(left, 0);
    }
  }
  EXPECT_GE(names.size(), 8);
}

TEST(NetworkPlanTest, TheDocumentationHasEveryPreset) {
  const std::string text = testing::FileText("docs/networks.md");
  ASSERT_FALSE(text.empty());
  for (const PlatformKind* preset : Platforms().All()) {
    if (preset->preset.empty()) continue;
    EXPECT_THAT(text, HasSubstr("`" + preset->name + "` | `" + preset->preset + "` | " +
                                preset->help + " |"));
  }
}

TEST(NetworkPlanTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(Error({.model = "fluid"}),
              HasSubstr("fluid: no such network model; there are auto, nic, queue, packets, "
                        "packets:control=reno, flow"));
  EXPECT_THAT(Error({.network = "torus:3x3", .model = "nic", .nodes = 9}),
              HasSubstr("nic: no model of this network: it is for one switch, and the network is "
                        "torus:3x3:bandwidth=1Gbit:latency=50us:loopback=80Gbit; take "
                        "--network-model=flow or auto"));
  EXPECT_THAT(Error({.network = "racks:hosts=2", .model = "packets", .nodes = 4}),
              HasSubstr("packets: no model of this network: it is for one switch"));
  EXPECT_THAT(Error({.model = "packets:control=reno", .half_duplex = true, .nodes = 4}),
              HasSubstr("packets:control=reno: no model of half-duplex interfaces; take "
                        "--network-model=nic"));
  EXPECT_THAT(Error({.model = "nic", .placement = "order:per-host=2", .nodes = 4}),
              HasSubstr("some ranks share a host"));
  EXPECT_THAT(Error({.network = "no-such"}), HasSubstr("unknown network 'no-such'"));
  EXPECT_THAT(Error({.placement = "no-such"}), HasSubstr("no such placement"));
}

TEST(NetworkPlanTest, AFileMayHaveMoreHostsThanRanks) {
  const std::string path = ::testing::TempDir() + "/plan.textproto";
  ASSERT_TRUE(WriteFileAtomically(path, R"(
host { name: "a" } host { name: "b" } host { name: "far" }
link { a: "a" b: "b" bandwidth: "1Gbit" latency: "1us" })")
                  .ok());
  // By its name alone as well.
  for (const std::string& network : {"file:" + path, path}) {
    EXPECT_TRUE(Plan({.network = network, .nodes = 2}).is_flow_level());
    EXPECT_THAT(Error({.network = network, .nodes = 3}, Failure::kInput),
                HasSubstr("no path from host \"a\" to host \"far\" and back"));
    EXPECT_THAT(Error({.network = network, .nodes = 4}), HasSubstr("4 ranks need 4 hosts"));
  }
}

}  // namespace
}  // namespace grapevine
