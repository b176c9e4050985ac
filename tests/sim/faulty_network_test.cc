// Messages whose way is obstructed by faults.
#include "sim/network/faulty_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/network/fluid_networks.h"
#include "sim/network/packet_network.h"
#include "tests/sim/network_driver.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

constexpr Nanoseconds kFlowTime = 1'000'000'000;

FaultTimeline FaultsOf(const std::string& text) {
  auto schedule =
      MakeFaultSchedule(std::vector<std::string>{text}, {.nodes = 4, .workers = 4, .rounds = 100});
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return FaultTimeline(*std::move(schedule));
}

// Messages of a second each, at one byte a nanosecond.
struct Delivery {
  std::vector<Nanoseconds> left, arrived;
};

Delivery Deliver(const std::string& faults, const std::vector<TestMessage>& messages,
                 Nanoseconds latency = 0) {
  const FaultTimeline timeline = FaultsOf(faults);
  NetworkDriver driver;
  FaultyNetwork network(
      std::make_unique<NicNetwork>(4, NicOptions{.bandwidth = 1, .latency = latency}, &driver),
      &timeline, /*seed=*/1, &driver);
  Delivery delivery;
  delivery.left = driver.Run(network, messages);
  delivery.arrived = driver.arrived();
  return delivery;
}

TEST(FaultyNetworkTest, AMessageWaitsUntilItsEdgeIsThereAgain) {
  const Delivery delivery =
      Deliver("cut:edge=0-1:at=0s:for=3s", {{.from = 0, .to = 1, .bytes = 1e9},
                                            {.from = 1, .to = 0, .bytes = 1e9},
                                            {.from = 2, .to = 3, .bytes = 1e9}});
  EXPECT_THAT(delivery.left, ElementsAre(4 * kFlowTime, 4 * kFlowTime, kFlowTime));
}

TEST(FaultyNetworkTest, AMessageThatIsCutGoesOnWhereItWas) {
  const Delivery delivery =
      Deliver("cut:edge=0-1:at=500ms:for=3s", {{.from = 0, .to = 1, .bytes = 1e9}});
  EXPECT_THAT(delivery.left, ElementsAre(4 * kFlowTime));
}

TEST(FaultyNetworkTest, APauseWithinAPauseCountsOnce) {
  const Delivery delivery = Deliver("cut:edge=0-1:at=500ms:for=3s,stop:rank=1:at=2s:for=4s",
                                    {{.from = 0, .to = 1, .bytes = 1e9}});
  EXPECT_EQ(delivery.left[0], 6 * kFlowTime + kFlowTime / 2);
}

TEST(FaultyNetworkTest, AStoppedNodeNeitherSendsNorReceives) {
  const Delivery delivery =
      Deliver("stop:rank=1:at=0s:for=2s", {{.from = 0, .to = 1, .bytes = 1e9},
                                           {.from = 1, .to = 2, .bytes = 1e9},
                                           {.from = 2, .to = 3, .bytes = 1e9}});
  EXPECT_THAT(delivery.left, ElementsAre(3 * kFlowTime, 3 * kFlowTime, kFlowTime));
}

TEST(FaultyNetworkTest, WhatIsOnItsWayArrivesAfterAPartition) {
  const Delivery delivery = Deliver("partition:ranks=0:at=1500ms:for=2s",
                                    {{.from = 0, .to = 1, .bytes = 1e9}}, kFlowTime);
  EXPECT_THAT(delivery.left, ElementsAre(kFlowTime));
  EXPECT_THAT(delivery.arrived, ElementsAre(3500 * kFlowTime / 1000));
}

TEST(FaultyNetworkTest, ADroppedMessageIsLateByARetransmission) {
  const Delivery delivery = Deliver("drop:p=1:edge=0-1", {{.from = 0, .to = 1, .bytes = 1e9},
                                                          {.from = 2, .to = 3, .bytes = 1e9}});
  EXPECT_THAT(delivery.left, ElementsAre(kFlowTime + kFlowTime / 5, kFlowTime));
}

TEST(FaultyNetworkTest, SomeAreDroppedWhereTheChanceIsBelowOne) {
  std::vector<TestMessage> messages;
  for (int i = 0; i < 200; ++i) {
    messages.push_back({.from = 0, .to = 1, .bytes = 1000, .start = i * kFlowTime});
  }
  const Delivery delivery = Deliver("drop:p=0.3", messages);
  int late = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    late += delivery.left[i] - messages[i].start > 1000;
  }
  EXPECT_GT(late, 30);  // 60 expected; four standard deviations are 26
  EXPECT_LT(late, 90);
  EXPECT_EQ(delivery.left, Deliver("drop:p=0.3", messages).left);
}

TEST(FaultyNetworkTest, ACreditTakesAsLongAsTheWayIsObstructed) {
  const FaultTimeline timeline = FaultsOf("cut:edge=0-1:at=0s:for=3s");
  NetworkDriver driver;
  FaultyNetwork network(std::make_unique<NicNetwork>(4, NicOptions{.latency = 500}, &driver),
                        &timeline, 1, &driver);
  EXPECT_EQ(network.Delay(0, 1, kFlowTime), 2 * kFlowTime);
  EXPECT_EQ(network.Reply(0, 1, kFlowTime), 2 * kFlowTime);
  EXPECT_EQ(network.Delay(0, 2, kFlowTime), 500);
  EXPECT_EQ(network.Delay(0, 1, 4 * kFlowTime), 500);
}

// Its alarms are of frames and hosts, too, whose numbers are those of messages.
TEST(FaultyNetworkTest, PacketsAreHeldLikewise) {
  const FaultTimeline timeline = FaultsOf("cut:edge=0-1:at=500ms:for=3s");
  const auto deliver = [](const FaultTimeline* faults) {
    NetworkDriver driver;
    auto packets = std::make_unique<PacketNetwork>(
        4, PacketOptions{.bandwidth = 0.125, .latency = 50'000}, &driver);
    const std::vector<TestMessage> messages = {{.from = 0, .to = 1, .bytes = 125e6},
                                               {.from = 0, .to = 2, .bytes = 1e6}};
    if (faults == nullptr) {
      driver.Run(*packets, messages);
    } else {
      FaultyNetwork network(std::move(packets), faults, 1, &driver);
      driver.Run(network, messages);
    }
    return driver.arrived();
  };
  const std::vector<Nanoseconds> without = deliver(nullptr), with = deliver(&timeline);
  EXPECT_EQ(with[0], without[0] + 3 * kFlowTime);
  EXPECT_EQ(with[1], without[1]);
}

}  // namespace
}  // namespace grapevine
