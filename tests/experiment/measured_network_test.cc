// What was measured, as the simulator reads it.
#include "experiment/measured_network/measured_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"
#include "sim/platform/platform.h"
#include "sim/platform/platform_request.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;

// Three hosts that send 100 Mbit/s in all, 40 along each edge at once; c receives at a tenth.
MeasuredNetwork Star() {
  MeasuredNetwork network{.hosts = {"a", "b", "fd00::7"}, .edges = {}};
  for (size_t from = 0; from < 3; ++from) {
    for (size_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      const double rate = to == 2 ? 1e7 : 1e8;
      network.edges.push_back({.from = from,
                               .to = to,
                               .alone = rate,
                               .together = 0.4 * rate,
                               .latency = microseconds(100 + 10 * from)});
    }
  }
  network.edges.push_back({.from = 1, .to = 1, .alone = 2e10, .together = {}, .latency = {}});
  return network;
}

class MeasuredNetworkFile : public ::testing::Test {
 protected:
  std::shared_ptr<const Platform> Read(const MeasuredNetwork& network) {
    const auto text = NetworkFileText(network, "a comment");
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) return nullptr;
    EXPECT_TRUE(text->starts_with("# a comment\n"));
    const auto platform = LoadPlatformFile(folder_.Write("net.textproto", *text));
    EXPECT_TRUE(platform.ok()) << platform.status();
    return platform.ok() ? *platform : nullptr;
  }
  // The least of a route, bits a second.
  static double Narrowest(const Platform& platform, HostId from, HostId to) {
    const auto router = platform.MakeRouter();
    double least = 1e18;
    for (const LinkId link : router->Find(from, to).links) {
      least = std::min(least, platform.links()[link].capacity * 8e9);
    }
    return least;
  }

  const ScratchFolder folder_;
};

TEST_F(MeasuredNetworkFile, RoutesHaveTheMeasuredLatenciesAndRates) {
  const auto platform = Read(Star());
  ASSERT_NE(platform, nullptr);
  ASSERT_EQ(platform->hosts(), 3);
  EXPECT_EQ(platform->HostName(2), "fd00::7");
  const auto router = platform->MakeRouter();
  for (HostId from = 0; from < 3; ++from) {
    for (HostId to = 0; to < 3; ++to) {
      if (from == to) continue;
      EXPECT_EQ(router->Find(from, to).latency, 100000 + 10000 * from);
      EXPECT_DOUBLE_EQ(Narrowest(*platform, from, to), to == 2 ? 1e7 : 1e8);
    }
  }
  EXPECT_DOUBLE_EQ(platform->loopback() * 8e9, 2e10);
}

// Out of a: 40 to b and 4 to c at once, but 100 to b alone. Out of c: 80 at once, and 100 alone.
TEST_F(MeasuredNetworkFile, AnInterfaceCarriesAllThatItCarriedAtOnce) {
  MeasuredNetwork network = Star();
  for (MeasuredEdge& edge : network.edges) {
    if (edge.from == 2) edge.together = 0.9e8;
  }
  const auto platform = Read(network);
  ASSERT_NE(platform, nullptr);
  const auto rate = [&](const std::string& name) {
    for (LinkId link = 0; link < platform->links().size(); ++link) {
      if (platform->LinkName(link) == name) return platform->links()[link].capacity * 8e9;
    }
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(rate("a->a:out"), 1e8);
  EXPECT_DOUBLE_EQ(rate("fd00::7->fd00::7:out"), 1.8e8);
  EXPECT_DOUBLE_EQ(rate("fd00::7:in->fd00::7"), 1e7);
  EXPECT_DOUBLE_EQ(rate("b:in->b"), 0.4e8 + 0.9e8);
}

TEST_F(MeasuredNetworkFile, HostsThatAreNotConnectedMakeNone) {
  MeasuredNetwork network = Star();
  std::erase_if(network.edges, [](const MeasuredEdge& edge) { return edge.from == 2; });
  const auto text = NetworkFileText(network, "");
  EXPECT_EQ(FailureOf(text.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("fd00::7"));
}

TEST_F(MeasuredNetworkFile, AHostAloneIsANetwork) {
  MeasuredNetwork network{.hosts = {"localhost"}, .edges = {}};
  network.edges.push_back({.from = 0, .to = 0, .alone = 3.14159e9, .together = {}, .latency = {}});
  const auto platform = Read(network);
  ASSERT_NE(platform, nullptr);
  EXPECT_DOUBLE_EQ(platform->loopback() * 8e9, 3.14e9) << "three digits";
}

}  // namespace
}  // namespace grapevine
