// The flow-level model against closed forms, conservation of bytes, and the
// latency-bandwidth model where the two must agree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "random/keyed_random.h"
#include "sim/network/fluid_networks.h"
#include "sim/platform/platform_request.h"
#include "tests/sim/network_driver.h"
#include "tests/testing/seeds.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::shared_ptr<const Platform> MakeTestPlatform(const std::string& spec, Rank hosts) {
  const auto platform = MakePlatform({.network = spec, .hosts = hosts});
  EXPECT_TRUE(platform.ok()) << platform.status();
  return *platform;
}

// A network with rank r on host r, and what drives it.
struct Bench {
  Bench(const std::string& spec, Rank n)
      : platform(MakeTestPlatform(spec, n)), network(platform, InOrder(n), &driver) {}

  static std::shared_ptr<const std::vector<HostId>> InOrder(Rank n) {
    auto hosts = std::make_shared<std::vector<HostId>>(n);
    std::iota(hosts->begin(), hosts->end(), 0);
    return hosts;
  }
  std::vector<Nanoseconds> Run(const std::vector<TestMessage>& messages) {
    return driver.Run(network, messages);
  }

  const std::shared_ptr<const Platform> platform;
  NetworkDriver driver;
  FlowNetwork network;
};

TEST(FlowNetworkTest, AMessageAloneTakesItsBytesAtTheNarrowestLink) {
  Bench bench("racks:hosts=2:oversubscription=4:bandwidth=8Gbit:latency=20us:uplink-latency=7us",
              4);
  // Within a rack the hosts' 1 byte/ns, between racks the uplink's half of it.
  EXPECT_THAT(bench.Run({{.from = 0, .to = 1, .bytes = 1000}}), ElementsAre(1000));
  EXPECT_EQ(bench.network.Latency(0, 1), 20'000);
  Bench across("racks:hosts=2:oversubscription=4:bandwidth=8Gbit:latency=20us:uplink-latency=7us",
               4);
  EXPECT_THAT(across.Run({{.from = 0, .to = 3, .bytes = 1000}}), ElementsAre(2000));
  EXPECT_EQ(across.network.Latency(0, 3), 27'000);
}

TEST(FlowNetworkTest, EqualFlowsDivideALink) {
  for (const int k : {1, 2, 5, 16}) {
    Bench bench("switch:bandwidth=8Gbit", k + 1);
    std::vector<TestMessage> messages;
    for (int i = 1; i <= k; ++i) messages.push_back({.from = i, .to = 0, .bytes = 1000});
    EXPECT_THAT(bench.Run(messages), Each(1000 * k));
  }
}

TEST(FlowNetworkTest, WhatOneCannotUseOthersGet) {
  // As in the test of NicNetwork, where the first two take 300.
  Bench bench("switch:bandwidth=2.4Gbit", 7);
  EXPECT_THAT(bench.Run({{.from = 0, .to = 3, .bytes = 45},
                         {.from = 1, .to = 3, .bytes = 45},
                         {.from = 2, .to = 3, .bytes = 30},
                         {.from = 2, .to = 4, .bytes = 30},
                         {.from = 2, .to = 5, .bytes = 30},
                         {.from = 2, .to = 6, .bytes = 30}}),
              ElementsAre(400, 400, 400, 400, 400, 400));
}

TEST(FlowNetworkTest, RanksOnOneHostUseNoLink) {
  NetworkDriver driver;
  const auto platform = MakeTestPlatform("switch:bandwidth=8Gbit:latency=5us:loopback=16Gbit", 2);
  FlowNetwork network(
      platform, std::make_shared<const std::vector<HostId>>(std::vector<HostId>{0, 0, 1}), &driver);
  EXPECT_EQ(network.Latency(0, 1), 0);
  EXPECT_EQ(network.Latency(0, 2), 5000);
  EXPECT_THAT(driver.Run(network, {{.from = 0, .to = 1, .bytes = 1000},
                                   {.from = 0, .to = 1, .bytes = 1000, .max_rate = 0.5},
                                   {.from = 0, .to = 2, .bytes = 1000}}),
              ElementsAre(500, 2000, 1000));
}

TEST(FlowNetworkTest, LinksCountTheBytesThatCrossThem) {
  Bench bench("racks:hosts=2:bandwidth=8Gbit", 4);
  bench.Run({{.from = 0, .to = 1, .bytes = 100},
             {.from = 0, .to = 2, .bytes = 10},
             {.from = 3, .to = 1, .bytes = 1, .start = 5}});
  std::map<std::string, double> bytes;
  for (LinkId link = 0; link < bench.platform->links().size(); ++link) {
    bytes[bench.platform->LinkName(link)] = bench.network.link_bytes()[link];
  }
  EXPECT_EQ(bytes["host0->rack0"], 110);
  EXPECT_EQ(bytes["rack0->host1"], 101);
  EXPECT_EQ(bytes["rack0->core"], 10);
  EXPECT_EQ(bytes["core->rack0"], 1);
  EXPECT_EQ(bytes["rack1->host3"], 0);
}

// One round of gossip, or of any exchange along a graph: all start at once.
std::vector<TestMessage> Exchange(const std::string& graph, Rank n, Round round, double bytes) {
  const auto topology = *MakeTopology(graph, n, 7);
  std::vector<TestMessage> messages;
  std::vector<Rank> neighbours;
  for (Rank rank = 0; rank < n; ++rank) {
    topology->OutNeighbours(rank, round, &neighbours);
    for (Rank to : neighbours) messages.push_back({.from = rank, .to = to, .bytes = bytes});
  }
  return messages;
}

TEST(FlowNetworkTest, GossipOnASwitchTakesDegreeTimesTheBytes) {
  for (const auto& [graph, degree] : {std::pair{"ring", 2}, {"torus", 4}, {"hypercube", 4}}) {
    Bench bench("switch:bandwidth=1Gbit", 16);
    EXPECT_THAT(bench.Run(Exchange(graph, 16, 0, 1e6)), Each(degree * 8'000'000)) << graph;
  }
}

TEST(FlowNetworkTest, AgreesWithTheNicModelWhereSharesAreEqual) {
  constexpr Rank kNodes = 24;
  for (const char* duplex : {"full", "half"}) {
    for (const char* graph : {"ring", "torus", "random-matching", "one-peer-exponential",
                              "exponential", "complete", "star", "path"}) {
      // Sizes differ, but are alike for all senders of a round, and overlap in
      // time where the next round comes early.
      std::vector<TestMessage> messages;
      for (Round round = 0; round < 4; ++round) {
        for (TestMessage message : Exchange(graph, kNodes, round, 1e6 + 12345.0 * round)) {
          message.start = round * 400'000'000;
          messages.push_back(message);
        }
      }
      Bench flow(std::string("switch:bandwidth=937Mbit:latency=64001ns:duplex=") + duplex, kNodes);
      const std::vector<Nanoseconds> by_flow = flow.Run(messages);
      NetworkDriver driver;
      const HostInterfaces interfaces = *flow.platform->interfaces();
      NicNetwork nic(kNodes,
                     {.bandwidth = interfaces.bandwidth,
                      .latency = interfaces.latency,
                      .half_duplex = interfaces.half_duplex},
                     &driver);
      const std::vector<Nanoseconds> by_nic = driver.Run(nic, messages);
      for (size_t i = 0; i < messages.size(); ++i) {
        EXPECT_LE(std::abs(by_flow[i] - by_nic[i]), 1) << graph << " " << duplex << ", " << i;
      }
      EXPECT_LE(std::abs(flow.network.Latency(0, 1) - nic.Latency(0, 1)), 1);
    }
  }
}

// Flows that begin at random moments anywhere.
std::vector<TestMessage> RandomMessages(uint64_t seed, Rank n, int count) {
  KeyedRandom random(seed, Purpose::kTopology);
  std::vector<TestMessage> messages;
  for (int i = 0; i < count; ++i) {
    messages.push_back({.from = static_cast<Rank>(random.Below(n)),
                        .to = static_cast<Rank>(random.Below(n)),
                        .bytes = std::floor(1e5 * random.Unit()),
                        .start = static_cast<Nanoseconds>(random.Below(1'000'000))});
    if (random.Below(5) == 0) messages.back().max_rate = 0.01 + random.Unit();
  }
  return messages;
}

TEST(FlowNetworkTest, EveryByteIsMovedOnce) {
  for (const char* spec :
       {"switch", "racks:hosts=4:oversubscription=3", "fat-tree:k=4", "torus:4x4",
        "sites:sites=4:wan-bandwidth=100Mbit:wan-latency=1ms", "switch:duplex=half"}) {
    for (const uint64_t seed : testing::Seeds(5)) {
      SCOPED_TRACE(::testing::Message() << spec << ", seed " << seed);
      const std::vector<TestMessage> messages = RandomMessages(seed, 16, 150);
      Bench bench(spec, 16);
      // Rates times the time they last.
      std::vector<double> moved(messages.size(), 0), rates(messages.size(), 0);
      Nanoseconds before = 0;
      bench.driver.after_settle = [&](Nanoseconds now, const std::vector<bool>& under_way) {
        for (size_t i = 0; i < messages.size(); ++i) {
          moved[i] += rates[i] * static_cast<double>(now - before);
          rates[i] = under_way[i] ? bench.network.rate(static_cast<FlowId>(i)) : 0;
          EXPECT_LE(rates[i], messages[i].max_rate);
        }
        before = now;
      };
      const std::vector<Nanoseconds> left = bench.Run(messages);
      for (size_t i = 0; i < messages.size(); ++i) {
        EXPECT_GE(left[i], messages[i].start);
        EXPECT_GE(moved[i], messages[i].bytes - 1e-3);
        // Ends are whole nanoseconds.
        EXPECT_LE(moved[i], messages[i].bytes + 10.001);
      }
    }
  }
}

TEST(FlowNetworkTest, WithoutContentionItIsLatencyAndBytesOverBandwidth) {
  for (const char* spec : {"switch", "racks:hosts=4", "fat-tree", "torus", "sites"}) {
    const std::string network = std::string(spec) + ":bandwidth=8Gbit:latency=3us";
    for (Rank to = 1; to < 12; ++to) {
      Bench bench(network, 12);
      const auto router = bench.platform->MakeRouter();
      const Route route = router->Find(0, to);
      double narrowest = 1;
      Nanoseconds latency = 0;
      for (const LinkId link : route.links) {
        narrowest = std::min(narrowest, bench.platform->links()[link].capacity);
        latency += bench.platform->links()[link].latency;
      }
      EXPECT_EQ(bench.network.Latency(0, to), latency) << network;
      EXPECT_THAT(bench.Run({{.from = 0, .to = to, .bytes = 123456}}),
                  ElementsAre(static_cast<Nanoseconds>(std::ceil(123456 / narrowest))))
          << network;
    }
  }
}

}  // namespace
}  // namespace grapevine
