// The latency-bandwidth model: shares of interfaces, and the Hockney formula.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/network/fluid_networks.h"
#include "tests/sim/network_driver.h"

namespace grapevine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<Nanoseconds> Departures(const NicOptions& options, Rank nodes,
                                    const std::vector<TestMessage>& messages) {
  NetworkDriver driver;
  NicNetwork network(nodes, options, &driver);
  return driver.Run(network, messages);
}

TEST(NicNetworkTest, AMessageAloneTakesItsBytesAtFullBandwidth) {
  EXPECT_THAT(
      Departures({.bandwidth = 0.125}, 2, {{.from = 0, .to = 1, .bytes = 1e6, .start = 10}}),
      ElementsAre(8'000'010));
}

TEST(NicNetworkTest, TheLatencyIsOneWayAndNoneWithinANode) {
  NetworkDriver driver;
  const NicNetwork network(3, {.bandwidth = 1, .latency = 500}, &driver);
  EXPECT_EQ(network.Latency(0, 2), 500);
  EXPECT_EQ(network.Latency(2, 0), 500);
  EXPECT_EQ(network.Latency(1, 1), 0);
}

TEST(NicNetworkTest, MessagesOfOneSenderShareItsEgress) {
  EXPECT_THAT(Departures({.bandwidth = 1}, 4,
                         {{.from = 0, .to = 1, .bytes = 300},
                          {.from = 0, .to = 2, .bytes = 300},
                          {.from = 0, .to = 3, .bytes = 300}}),
              Each(900));
}

TEST(NicNetworkTest, MessagesToOneReceiverShareItsIngress) {
  EXPECT_THAT(Departures({.bandwidth = 1}, 3,
                         {{.from = 0, .to = 2, .bytes = 100}, {.from = 1, .to = 2, .bytes = 300}}),
              ElementsAre(200, 400));
}

TEST(NicNetworkTest, DirectionsAreIndependentInFullDuplexAlone) {
  const std::vector<TestMessage> both = {{.from = 0, .to = 1, .bytes = 100},
                                         {.from = 1, .to = 0, .bytes = 100}};
  EXPECT_THAT(Departures({.bandwidth = 1}, 2, both), Each(100));
  EXPECT_THAT(Departures({.bandwidth = 1, .half_duplex = true}, 2, both), Each(200));
}

TEST(NicNetworkTest, AMessageThatComesLaterSlowsTheOthersDown) {
  // 50 bytes alone, then half the bandwidth until the second ends.
  EXPECT_THAT(Departures({.bandwidth = 1}, 3,
                         {{.from = 0, .to = 1, .bytes = 100, .start = 0},
                          {.from = 0, .to = 2, .bytes = 20, .start = 50}}),
              ElementsAre(120, 90));
}

TEST(NicNetworkTest, AMessageIsNoFasterThanItsSenderCan) {
  EXPECT_THAT(
      Departures({.bandwidth = 1}, 2, {{.from = 0, .to = 1, .bytes = 100, .max_rate = 0.25}}),
      ElementsAre(400));
}

TEST(NicNetworkTest, QueuedEndsLeaveOneAfterAnother) {
  // 80 bytes of each in shares, until 160; then 20 of the first and 20 of the second.
  const std::vector<TestMessage> equal = {{.from = 0, .to = 1, .bytes = 100},
                                          {.from = 0, .to = 2, .bytes = 100}};
  EXPECT_THAT(Departures({.bandwidth = 1}, 3, equal), Each(200));
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 20}, 3, equal), ElementsAre(180, 200));
  // A message that fits goes into the queue as a whole, and waits for those before it.
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 100}, 3, equal), ElementsAre(100, 200));
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 1000}, 3, equal), ElementsAre(100, 200));
}

TEST(NicNetworkTest, WhatIsQueuedHoldsUpTheShares) {
  // The first is alone until 40; they share until 60, when the second's end begins to leave.
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 10}, 3,
                         {{.from = 0, .to = 1, .bytes = 100, .start = 0},
                          {.from = 0, .to = 2, .bytes = 20, .start = 40}}),
              ElementsAre(120, 70));
}

TEST(NicNetworkTest, QueuesOfSendersShareAReceiver) {
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 20}, 3,
                         {{.from = 0, .to = 2, .bytes = 100}, {.from = 1, .to = 2, .bytes = 300}}),
              ElementsAre(200, 400));
}

// Until its rate grows, which takes round trips, a receiver's other flow leaves what is held back
// unused.
TEST(NicNetworkTest, WhatWaitsForAQueueKeepsItsShareOfTheReceiver) {
  // Rank 0 sends the first message's end from 80 to 100, and nothing to rank 2 meanwhile.
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 20}, 4,
                         {{.from = 0, .to = 3, .bytes = 60},
                          {.from = 0, .to = 2, .bytes = 200},
                          {.from = 1, .to = 2, .bytes = 80}}),
              ElementsAre(100, 290, 160));
}

// Losses keep a flow below the interface's bandwidth: its packets make no queue.
TEST(NicNetworkTest, ASlowFlowHoldsNobodyUp) {
  EXPECT_THAT(Departures({.bandwidth = 1, .queued = 20}, 3,
                         {{.from = 0, .to = 1, .bytes = 20, .max_rate = 0.01},
                          {.from = 0, .to = 2, .bytes = 100}}),
              ElementsAre(2020, 180));
}

TEST(NicNetworkTest, WhatOneShareLeavesUnusedIsNotGivenToOthers) {
  // The difference to max-min fairness: three messages into node 3, one of whose
  // senders sends elsewhere too. The others still get a third.
  EXPECT_THAT(Departures({.bandwidth = 0.3}, 7,
                         {{.from = 0, .to = 3, .bytes = 30},
                          {.from = 1, .to = 3, .bytes = 30},
                          {.from = 2, .to = 3, .bytes = 30},
                          {.from = 2, .to = 4, .bytes = 30},
                          {.from = 2, .to = 5, .bytes = 30},
                          {.from = 2, .to = 6, .bytes = 30}}),
              ElementsAre(300, 300, 400, 400, 400, 400));
}

}  // namespace
}  // namespace grapevine
