// What every model of the network promises, whatever it models: over one switch, the messages of
// random patterns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "sim/network/network_plan.h"
#include "tests/sim/network_driver.h"

namespace grapevine {
namespace {

using ::testing::Each;
using ::testing::Ge;

constexpr Rank kNodes = 6;
constexpr Nanoseconds kLatency = 200'000;
constexpr double kBandwidth = 0.0125;  // bytes per nanosecond
constexpr uint64_t kSeed = 7;

std::vector<TestMessage> RandomMessages(int count) {
  KeyedRandom random(kSeed, Purpose::kTopology);
  std::vector<TestMessage> messages;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<Rank>(random.Below(kNodes));
    const auto to = static_cast<Rank>((from + 1 + random.Below(kNodes - 1)) % kNodes);
    messages.push_back({.from = from,
                        .to = to,
                        .bytes = static_cast<double>(1 + random.Below(100'000)),
                        .start = static_cast<Nanoseconds>(random.Below(50'000'000))});
  }
  return messages;
}

class NetworkContractTest : public ::testing::TestWithParam<const char*> {
 protected:
  struct Times {
    std::vector<Nanoseconds> left;
    std::vector<Nanoseconds> arrived;
  };

  std::unique_ptr<NetworkModel> Make(AlarmClock* clock) {
    const auto plan = MakeNetworkPlan({.model = GetParam(),
                                       .bandwidth = static_cast<int64_t>(kBandwidth * 8e9),
                                       .latency = kLatency,
                                       .nodes = kNodes});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan->Make(clock);
  }
  Times Run(const std::vector<TestMessage>& messages) {
    NetworkDriver driver;
    const auto network = Make(&driver);
    Times times;
    times.left = driver.Run(*network, messages);
    times.arrived = driver.arrived();
    return times;
  }
};

TEST_P(NetworkContractTest, EveryMessageLeavesOnceAndArrivesALatencyLater) {
  const std::vector<TestMessage> messages = RandomMessages(200);
  const Times times = Run(messages);
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_GE(times.left[i],
              messages[i].start + static_cast<Nanoseconds>(messages[i].bytes / kBandwidth));
    EXPECT_GE(times.arrived[i], times.left[i] + kLatency);
  }
}

TEST_P(NetworkContractTest, NoInterfaceIsFasterThanItsBandwidth) {
  const std::vector<TestMessage> messages = RandomMessages(200);
  const Times times = Run(messages);
  for (Rank host = 0; host < kNodes; ++host) {
    double out = 0, in = 0;
    for (const TestMessage& message : messages) {
      if (message.from == host) out += message.bytes;
      if (message.to == host) in += message.bytes;
    }
    Nanoseconds last_left = 0, last_arrived = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].from == host) last_left = std::max(last_left, times.left[i]);
      if (messages[i].to == host) last_arrived = std::max(last_arrived, times.arrived[i]);
    }
    EXPECT_GE(static_cast<double>(last_left), out / kBandwidth);
    EXPECT_GE(static_cast<double>(last_arrived - kLatency), in / kBandwidth);
  }
}

TEST_P(NetworkContractTest, AMessageAloneTakesTheLatencyAndItsBytes) {
  // Ten full segments: the first window of a connection.
  const double bytes = 14'480;
  const Times times = Run({{.from = 2, .to = 4, .bytes = bytes, .start = 1000}});
  EXPECT_NEAR(static_cast<double>(times.arrived[0] - 1000 - kLatency), bytes / kBandwidth, 10);
}

TEST_P(NetworkContractTest, TheSameMessagesTakeTheSameTime) {
  const Times first = Run(RandomMessages(100)), second = Run(RandomMessages(100));
  EXPECT_EQ(first.left, second.left);
  EXPECT_EQ(first.arrived, second.arrived);
}

TEST_P(NetworkContractTest, WhatHasNotLeftNeverGrowsAndHasARate) {
  const std::vector<TestMessage> messages = RandomMessages(100);
  NetworkDriver driver;
  const auto network = Make(&driver);
  std::map<size_t, double> left;
  driver.after_settle = [&](Nanoseconds now, const std::vector<bool>& under_way) {
    for (size_t i = 0; i < messages.size(); ++i) {
      if (!under_way[i]) continue;
      const double before = left.contains(i) ? left[i] : messages[i].bytes;
      left[i] = network->Left(static_cast<FlowId>(i), now);
      EXPECT_LE(left[i], before + 1e-3) << i;
      EXPECT_GE(left[i], -1e-3) << i;
      EXPECT_GE(network->rate(static_cast<FlowId>(i)), 0);
      EXPECT_LE(network->rate(static_cast<FlowId>(i)), kBandwidth * (1 + 1e-9));
    }
  };
  EXPECT_THAT(driver.Run(*network, messages), Each(Ge(0)));
}

TEST_P(NetworkContractTest, AFewBytesTakeAtLeastTheLatency) {
  NetworkDriver driver;
  const auto network = Make(&driver);
  EXPECT_EQ(network->Latency(0, 1), kLatency);
  EXPECT_EQ(network->Delay(0, 1, 0), kLatency);
  EXPECT_EQ(network->Reply(0, 1, 0), kLatency);
  EXPECT_EQ(network->Delay(3, 3, 0), 0);
  network->Start(0, {.from = 0, .to = 1, .bytes = 1e6}, 0);
  network->Settle(0);
  EXPECT_GE(network->Delay(0, 1, 0), kLatency);
}

INSTANTIATE_TEST_SUITE_P(Models, NetworkContractTest,
                         ::testing::ValuesIn(NetworkModels().begin(), NetworkModels().end()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace grapevine
