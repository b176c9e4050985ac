// The families of networks: what their routes look like, and what is refused.
#include "sim/platform/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "sim/platform/platform_kind.h"
#include "sim/platform/platform_request.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Platform> Make(const PlatformRequest& request) {
  const auto platform = MakePlatform(request);
  EXPECT_TRUE(platform.ok()) << platform.status();
  return *platform;
}

std::string Error(const PlatformRequest& request) {
  const auto platform = MakePlatform(request);
  EXPECT_FALSE(platform.ok()) << request.network;
  EXPECT_EQ(FailureOf(platform.status()), Failure::kUsage) << platform.status();
  return std::string(platform.status().message());
}

std::vector<std::string> RouteNames(const Platform& platform, HostId from, HostId to) {
  const auto router = platform.MakeRouter();
  std::vector<std::string> names;
  for (const LinkId link : router->Find(from, to).links) names.push_back(platform.LinkName(link));
  return names;
}

// A fat tree's hashes leave some out.
TEST(PlatformTest, NoLinkIsThereInVain) {
  for (const char* spec : {"switch", "racks:hosts=3", "racks:hosts=5:racks=4", "torus:3x4",
                           "torus:2x2x3", "torus:1x2x7", "sites", "sites:sites=4:hosts=3"}) {
    const auto platform = Make({.network = spec, .hosts = 12});
    const auto router = platform->MakeRouter();
    std::set<LinkId> used;
    for (HostId from = 0; from < platform->hosts(); ++from) {
      for (HostId to = 0; to < platform->hosts(); ++to) {
        const Route route = router->Find(from, to);
        used.insert(route.links.begin(), route.links.end());
      }
    }
    EXPECT_EQ(used.size(), platform->links().size()) << spec;
  }
}

TEST(PlatformTest, TheNameSaysEverythingAndReadsBack) {
  for (const char* spec : {"switch:duplex=half", "racks:oversubscription=2.5", "fat-tree", "torus",
                           "sites:sites=5", "cluster-100gbit", "wan-3-sites:wan-latency=70ms"}) {
    const auto platform = Make({.network = spec, .hosts = 20});
    const auto again = Make({.network = platform->name(), .hosts = 1});
    EXPECT_EQ(again->name(), platform->name());
    ASSERT_EQ(again->links().size(),
              spec == std::string("switch:duplex=half") ? 1 : platform->links().size());
    EXPECT_EQ(again->links()[0].capacity, platform->links()[0].capacity);
    EXPECT_EQ(again->links()[0].latency, platform->links()[0].latency);
  }
}

TEST(PlatformTest, HostsAreFoundByName) {
  const auto platform = Make({.network = "switch", .hosts = 12});
  EXPECT_EQ(platform->HostName(11), "host11");
  EXPECT_EQ(platform->FindHost("host11"), 11);
  for (const char* name : {"host12", "host-1", "host", "11", "host1x", ""}) {
    EXPECT_EQ(platform->FindHost(name), std::nullopt) << name;
  }
}

TEST(PlatformTest, ASwitchHasTwoLinksBetweenHosts) {
  const auto platform = Make({.network = "switch:bandwidth=10Gbit:latency=25us", .hosts = 3});
  EXPECT_THAT(RouteNames(*platform, 2, 0), ElementsAre("host2->switch", "switch->host0"));
  EXPECT_EQ(platform->links()[0].capacity, 1.25);
  EXPECT_EQ(platform->MakeRouter()->Find(2, 0).latency, 25'000);
  EXPECT_EQ(platform->interfaces()->bandwidth, 1.25);
  EXPECT_FALSE(platform->interfaces()->half_duplex);
  const auto half = Make({.network = "switch:duplex=half", .hosts = 3});
  EXPECT_EQ(half->links().size(), 3);
  EXPECT_THAT(RouteNames(*half, 2, 0), ElementsAre("host2--switch", "host0--switch"));
  EXPECT_TRUE(half->interfaces()->half_duplex);
}

TEST(PlatformTest, RacksShareTheirUplink) {
  const auto platform =
      Make({.network = "racks:hosts=16:oversubscription=4:bandwidth=8Gbit:uplink-latency=9us",
            .hosts = 40});
  EXPECT_EQ(platform->hosts(), 48);
  EXPECT_FALSE(platform->interfaces());
  EXPECT_THAT(RouteNames(*platform, 0, 15), ElementsAre("host0->rack0", "rack0->host15"));
  EXPECT_THAT(RouteNames(*platform, 0, 33),
              ElementsAre("host0->rack0", "rack0->core", "core->rack2", "rack2->host33"));
  const auto router = platform->MakeRouter();
  EXPECT_EQ(platform->links()[router->Find(0, 33).links[1]].capacity, 16.0 * 1 / 4);
  EXPECT_EQ(router->Find(0, 33).latency, 50'000 + 9'000);
  EXPECT_EQ(router->Find(0, 15).latency, 50'000);
}

TEST(PlatformTest, OneRackIsASwitch) {
  const auto platform = Make({.network = "racks:hosts=16:oversubscription=4", .hosts = 10});
  EXPECT_TRUE(platform->interfaces());
  EXPECT_EQ(platform->hosts(), 16);
}

TEST(PlatformTest, SitesMeetInTheWan) {
  const auto platform =
      Make({.network = "sites:sites=3:latency=50us:wan-bandwidth=800Mbit:wan-latency=30001us",
            .hosts = 8});
  EXPECT_EQ(platform->hosts(), 9);
  EXPECT_THAT(RouteNames(*platform, 0, 8),
              ElementsAre("host0->site0", "site0->wan", "wan->site2", "site2->host8"));
  const Route route = platform->MakeRouter()->Find(0, 8);
  EXPECT_EQ(route.latency, 50'000 + 30'001'000);
}

TEST(PlatformTest, FatTreeRoutesHaveTwoFourOrSixLinks) {
  const auto platform = Make({.network = "fat-tree:k=4:latency=2us", .hosts = 16});
  EXPECT_EQ(platform->hosts(), 16);
  EXPECT_EQ(platform->links().size(), 2 * 3 * 16);
  const auto router = platform->MakeRouter();
  EXPECT_THAT(RouteNames(*platform, 0, 1), ElementsAre("host0->pod0-edge0", "pod0-edge0->host1"));
  for (HostId to = 1; to < 16; ++to) {
    const Route route = router->Find(0, to);
    EXPECT_EQ(route.links.size(), to < 2 ? 2 : to < 4 ? 4 : 6);
    EXPECT_EQ(route.latency, 1000 * static_cast<Nanoseconds>(route.links.size()));
  }
  // The smallest that is large enough.
  EXPECT_EQ(Make({.network = "fat-tree", .hosts = 17})->hosts(), 54);
}

TEST(PlatformTest, AFatTreeSpreadsOverItsCores) {
  // Half of the hosts send to the other half: 1,024 routes over 256 cores; nowhere
  // much more than the four that each would have.
  const auto platform = Make({.network = "fat-tree:k=16", .hosts = 1024});
  const auto router = platform->MakeRouter();
  std::map<LinkId, int> routes;
  for (HostId from = 0; from < 512; ++from) {
    for (const HostId to : {from + 512, (from + 97) % 512 + 512}) {
      const Route route = router->Find(from, to);
      ASSERT_EQ(route.links.size(), 6);
      ++routes[route.links[2]];
    }
  }
  // All are used, and the fullest has no more than balls in bins would give.
  EXPECT_GT(routes.size(), 450);
  int fullest = 0;
  for (const auto& [link, count] : routes) fullest = std::max(fullest, count);
  EXPECT_LE(fullest, 10);
}

TEST(PlatformTest, TorusRoutesAreShortest) {
  const std::vector<int> sides = {4, 5, 2};
  const auto platform = Make({.network = "torus:4x5x2:latency=1us", .hosts = 40});
  EXPECT_EQ(platform->hosts(), 40);
  // Two for each host and side, half for the side of two.
  EXPECT_EQ(platform->links().size(), 40 * 2 + 40 * 2 + 40);
  const auto router = platform->MakeRouter();
  for (HostId from = 0; from < 40; ++from) {
    for (HostId to = 0; to < 40; ++to) {
      int distance = 0;
      int a = from, b = to;
      for (int side = 2; side >= 0; --side) {
        const int ahead = (b % sides[side] - a % sides[side] + sides[side]) % sides[side];
        distance += std::min(ahead, sides[side] - ahead);
        a /= sides[side];
        b /= sides[side];
      }
      const Route route = router->Find(from, to);
      EXPECT_EQ(route.links.size(), distance) << from << " " << to;
      EXPECT_EQ(route.latency, 1000 * distance);
    }
  }
}

TEST(PlatformTest, BisectionsAreWhatTheFamiliesPromise) {
  // The capacity that crosses between the first and the second half of the hosts.
  const auto crossing = [](const std::string& spec, HostId hosts) {
    const auto platform = Make({.network = spec + ":bandwidth=8Gbit", .hosts = hosts});
    const auto router = platform->MakeRouter();
    // Every link that a route between the halves takes at its narrowest layer: where
    // the most routes meet, so the layer is told by the place in the route.
    std::map<size_t, std::map<LinkId, double>> layers;
    for (HostId from = 0; from < hosts / 2; ++from) {
      for (HostId to = hosts / 2; to < hosts; ++to) {
        const Route route = router->Find(from, to);
        for (size_t i = 0; i < route.links.size(); ++i) {
          layers[i][route.links[i]] = platform->links()[route.links[i]].capacity;
        }
      }
    }
    double narrowest = 1e9;
    for (const auto& [place, links] : layers) {
      double sum = 0;
      for (const auto& [link, capacity] : links) sum += capacity;
      narrowest = std::min(narrowest, sum);
    }
    return narrowest;
  };
  EXPECT_EQ(crossing("switch", 16), 8);
  EXPECT_EQ(crossing("racks:hosts=4:oversubscription=4", 16), 2);
  EXPECT_EQ(crossing("racks:hosts=4:oversubscription=1", 16), 8);
  EXPECT_EQ(crossing("fat-tree:k=4", 16), 8);
  EXPECT_EQ(crossing("sites:sites=2:wan-bandwidth=1Gbit", 16), 0.125);
}

TEST(PlatformTest, FlagsReplaceThePresetsOwn) {
  const auto platform = Make({.network = "lan-1gbit",
                              .bandwidth = 8'000'000'000,
                              .latency = 7,
                              .half_duplex = true,
                              .hosts = 4});
  EXPECT_EQ(platform->interfaces()->bandwidth, 1);
  EXPECT_EQ(platform->interfaces()->latency, 7);
  EXPECT_TRUE(platform->interfaces()->half_duplex);
  EXPECT_EQ(Make({.network = "lan-1gbit:latency=1ms", .hosts = 4})->interfaces()->latency,
            1'000'000);
}

// One that a user adds.
const Registration kMyLab(Platforms(), {.name = "my-lab",
                                        .help = "two racks of four, as measured",
                                        .preset = "racks:hosts=4:racks=2:latency=9us",
                                        .source = "measured with iperf3 and ping"});

TEST(PlatformTest, APresetOfOnesOwnIsKnownByName) {
  EXPECT_EQ(Make({.network = "my-lab", .hosts = 8})->name(),
            Make({.network = "racks:hosts=4:racks=2:latency=9us", .hosts = 8})->name());
  EXPECT_EQ(Make({.network = "my-lab:latency=1us", .hosts = 8})->hosts(), 8);
  EXPECT_THAT(Error({.network = "my-lba"}), HasSubstr("did you mean my-lab?"));
  EXPECT_THAT(Error({.network = "my-lab:4x8"}), HasSubstr("my-lab:4x8: unexpected '4x8'"));
  EXPECT_THAT(Error({.network = "my-lab", .hosts = 9}), HasSubstr("has 8 hosts for 9 nodes"));
}

TEST(PlatformTest, BigFamiliesCostLittle) {
  for (const char* spec : {"switch", "racks", "fat-tree", "torus:64x128", "sites:sites=64"}) {
    const auto platform = Make({.network = spec, .hosts = 8192});
    const auto router = platform->MakeRouter();
    EXPECT_GE(platform->hosts(), 8192);
    for (HostId from = 0; from < 8192; ++from) {
      EXPECT_GE(router->Find(from, (from + 1) % 8192).links.size(), 1);
    }
  }
}

TEST(PlatformTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(
      Error({.network = "swich"}),
      HasSubstr(
          "swich: unknown network 'swich'; did you mean switch? known: cloud-region, cluster-"));
  EXPECT_THAT(Error({.network = ""}), HasSubstr("a name is missing"));
  EXPECT_THAT(Error({.network = "switch:speed=1Gbit"}), HasSubstr("unknown option 'speed'"));
  EXPECT_THAT(Error({.network = "switch:bandwidth=-1Gbit"}),
              HasSubstr("option bandwidth: \"-1Gbit\" is not a bandwidth: it is negative"));
  EXPECT_THAT(Error({.network = "switch:bandwidth=10Gfoo"}), HasSubstr("Gfoo"));
  EXPECT_THAT(Error({.network = "switch:bandwidth=0bit"}), HasSubstr("nothing would ever arrive"));
  EXPECT_THAT(Error({.network = "switch:latency=5"}), HasSubstr("option latency"));
  EXPECT_THAT(Error({.network = "switch:latency=25h"}), HasSubstr("more than a day"));
  EXPECT_THAT(Error({.network = "switch:duplex=semi"}), HasSubstr("not one of full, half"));
  EXPECT_THAT(Error({.network = "switch", .bandwidth = 0}), HasSubstr("nothing would ever arrive"));
  EXPECT_THAT(Error({.network = "switch:latency=1us", .latency = 5}),
              HasSubstr("says latency=1us, and --latency says it too; leave one out"));
  EXPECT_THAT(Error({.network = "racks:racks=2:hosts=4", .hosts = 9}),
              HasSubstr("has 8 hosts for 9 nodes"));
  EXPECT_THAT(Error({.network = "racks:oversubscription=0"}), HasSubstr("oversubscription"));
  EXPECT_THAT(Error({.network = "racks:racks=2000000000:hosts=2000000000"}),
              HasSubstr("more than 16777216"));
  EXPECT_THAT(Error({.network = "fat-tree:k=5"}), HasSubstr("k = 5 is odd; take 6"));
  EXPECT_THAT(Error({.network = "fat-tree:k=4", .hosts = 17}),
              HasSubstr("has 16 hosts for 17 nodes"));
  EXPECT_THAT(Error({.network = "torus:4x0"}), HasSubstr("'0' is not the length of a side"));
  EXPECT_THAT(Error({.network = "torus:4x4", .hosts = 17}), HasSubstr("has 16 hosts for 17"));
  EXPECT_THAT(Error({.network = "torus:65536x65536"}), HasSubstr("more nodes than fit 31 bits"));
  EXPECT_THAT(Error({.network = "sites:sites=0"}), HasSubstr("0 is less than 1"));
  EXPECT_THAT(Error({.network = "lan-1gbit:fast"}), HasSubstr("unexpected 'fast'"));
  EXPECT_THAT(Error({.network = "file:"}), HasSubstr("a path is missing"));
  EXPECT_THAT(Error({.network = "file:x.textproto", .bandwidth = 5}),
              HasSubstr("the file says what its links can do; change it there and leave "
                        "--bandwidth out"));
}

}  // namespace
}  // namespace grapevine
