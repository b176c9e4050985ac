// TCP segments in queues, by hand. A byte of a frame takes a nanosecond: a full segment 1514, an
// acknowledgement 66.
#include "sim/network/packet_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/millisecond.h"
#include "tests/sim/network_driver.h"

namespace grapevine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr double kGoodput = 1448.0 / 1514;
constexpr double kSegment = 1448;
constexpr Nanoseconds kFrame = 1514;
constexpr Nanoseconds kAck = 66;

// A network and the messages that it has carried.
struct Carried {
  Carried(Rank nodes, const PacketOptions& options, const std::vector<TestMessage>& messages)
      : network(nodes, options, &driver), left(driver.Run(network, messages)) {}

  NetworkDriver driver;
  PacketNetwork network;
  std::vector<Nanoseconds> left;
};

std::vector<Nanoseconds> Arrived(const PacketOptions& options, Rank nodes,
                                 const std::vector<TestMessage>& messages) {
  return Carried(nodes, options, messages).driver.arrived();
}

TEST(PacketNetworkTest, AMessageOnAnIdleLinkTakesTheLatencyAndItsBytes) {
  const Carried carried(2, {.bandwidth = kGoodput, .latency = 1000},
                        {{.from = 0, .to = 1, .bytes = 2 * kSegment, .start = 7}});
  EXPECT_THAT(carried.left, ElementsAre(7 + 2 * kFrame));
  EXPECT_THAT(carried.driver.arrived(), ElementsAre(7 + 2 * kFrame + 1000));
}

TEST(PacketNetworkTest, TheLastSegmentIsAsLongAsWhatIsLeft) {
  EXPECT_THAT(Arrived({.bandwidth = kGoodput}, 2, {{.from = 0, .to = 1, .bytes = kSegment + 100}}),
              ElementsAre(kFrame + 100 + PacketNetwork::kHeaders));
}

TEST(PacketNetworkTest, EverySecondSegmentAndTheLastAreAcknowledgedAndTheFirstOneByOne) {
  const Carried carried(
      2, {.bandwidth = kGoodput},
      {{.from = 0, .to = 1, .bytes = 16 * kSegment},
       {.from = 0, .to = 1, .bytes = 7 * kSegment, .start = kMillisecond},
       {.from = 0, .to = 1, .bytes = 16 * kSegment, .start = 300 * kMillisecond}});
  EXPECT_EQ(carried.network.frames(), 16 + 16 + 7 + 4 + 16 + 16);
}

// The credits of four messages, say.
TEST(PacketNetworkTest, WhatAReceiverSaysIsAnsweredAndTheAnswerAcknowledged) {
  NetworkDriver driver;
  PacketNetwork network(2, {.bandwidth = kGoodput, .latency = 500}, &driver);
  EXPECT_EQ(network.Reply(0, 1, 0), 500);
  for (int i = 0; i < 3; ++i) EXPECT_GT(network.Reply(0, 1, 0), 500);
  driver.Run(network, {});
  EXPECT_EQ(network.frames(), 4 * 3);
}

TEST(PacketNetworkTest, SlowStartSendsTenSegmentsThenTwiceAsMany) {
  // The first acknowledgement is there after two latencies, a segment and itself; from then on each
  // releases two segments, more than leave until the next one.
  const Nanoseconds first = 2 * kMillisecond + kFrame + kAck;
  EXPECT_THAT(Arrived({.bandwidth = kGoodput, .latency = kMillisecond}, 2,
                      {{.from = 0, .to = 1, .bytes = 10 * kSegment},
                       {.from = 1, .to = 0, .bytes = 1, .start = 5 * kMillisecond}}),
              ElementsAre(10 * kFrame + kMillisecond, 6 * kMillisecond + 1 + 66));
  EXPECT_THAT(Arrived({.bandwidth = kGoodput, .latency = kMillisecond}, 2,
                      {{.from = 0, .to = 1, .bytes = 30 * kSegment}}),
              ElementsAre(first + 20 * kFrame + kMillisecond));
}

TEST(PacketNetworkTest, TheWindowIsKeptFromMessageToMessageButNotThroughALongPause) {
  const auto second = [&](Nanoseconds pause) {
    const Nanoseconds start = 4 * kMillisecond + pause;
    return Arrived({.bandwidth = kGoodput, .latency = kMillisecond}, 2,
                   {{.from = 0, .to = 1, .bytes = 30 * kSegment},
                    {.from = 0, .to = 1, .bytes = 30 * kSegment, .start = start}})[1] -
           start;
  };
  EXPECT_EQ(second(10 * kMillisecond), 30 * kFrame + kMillisecond);
  // As long as the first took.
  EXPECT_EQ(second(10'000 * kMillisecond), 3 * kMillisecond + 21 * kFrame + kAck);
}

TEST(PacketNetworkTest, AMessageIsInItsHostsBufferAtOnceUnlessItIsLonger) {
  // Twice the first window of ten, at 4352 bytes a segment.
  constexpr double kBuffer = 87'040;
  const Carried carried(2, {.bandwidth = kGoodput, .latency = kMillisecond},
                        {{.from = 0, .to = 1, .bytes = kBuffer, .start = 5},
                         {.from = 1, .to = 0, .bytes = kBuffer + 1, .start = 5}});
  ASSERT_EQ(carried.driver.buffered.size(), 2u);
  EXPECT_THAT(carried.driver.buffered[0], Pair(0, 5));
  // The first acknowledgement makes room, long before the last byte leaves.
  EXPECT_THAT(carried.driver.buffered[1], Pair(1, 5 + 2 * kMillisecond + kFrame + kAck));
  EXPECT_GT(carried.left[1], carried.driver.buffered[1].second);
}

TEST(PacketNetworkTest, EveryMessageIsBufferedAtMostOnceAndBeforeItHasLeft) {
  std::vector<TestMessage> messages;
  for (int i = 0; i < 40; ++i) {
    messages.push_back({.from = i % 3,
                        .to = (i + 1 + i / 3 % 2) % 3,
                        .bytes = 1000.0 * (1 + i * i),
                        .start = i * 50 * kMillisecond});
  }
  const Carried carried(3, {.bandwidth = kGoodput, .latency = kMillisecond}, messages);
  std::vector<int> times(messages.size());
  for (const auto& [flow, when] : carried.driver.buffered) {
    ++times[flow];
    EXPECT_GE(when, messages[flow].start);
    EXPECT_LE(when, carried.left[flow]);
  }
  EXPECT_THAT(times, Each(::testing::Le(1)));
  EXPECT_GT(carried.driver.buffered.size(), messages.size() / 2);
}

TEST(PacketNetworkTest, ConnectionsOfAHostTakeTurnsByBursts) {
  // Four segments of each wait at first, then two more whenever two have left:
  // 0000 1111 00 00 11 11 00 11.
  EXPECT_THAT(Carried(3, {.bandwidth = kGoodput, .latency = kMillisecond},
                      {{.from = 0, .to = 1, .bytes = 10 * kSegment},
                       {.from = 0, .to = 2, .bytes = 10 * kSegment}})
                  .left,
              ElementsAre(18 * kFrame, 20 * kFrame));
}

TEST(PacketNetworkTest, APortPassesFramesOnInTheOrderInWhichTheyCame) {
  EXPECT_THAT(Arrived({.bandwidth = kGoodput, .latency = 500}, 4,
                      {{.from = 0, .to = 3, .bytes = kSegment, .start = 2},
                       {.from = 1, .to = 3, .bytes = kSegment, .start = 0},
                       {.from = 2, .to = 3, .bytes = kSegment, .start = 1}}),
              ElementsAre(500 + 3 * kFrame, 500 + kFrame, 500 + 2 * kFrame));
}

TEST(PacketNetworkTest, AcknowledgementsCompeteWithTheOtherDirection) {
  // Of each, four wait at first; those of the first four segments leave before the last two, which
  // the first of them lets into the queue.
  EXPECT_THAT(Carried(2, {.bandwidth = kGoodput},
                      {{.from = 0, .to = 1, .bytes = 10 * kSegment},
                       {.from = 1, .to = 0, .bytes = 10 * kSegment}})
                  .left,
              Each(10 * kFrame + 4 * kAck));
}

TEST(PacketNetworkTest, AFewBytesWaitInBothQueues) {
  NetworkDriver driver;
  PacketNetwork network(3, {.bandwidth = kGoodput, .latency = 500}, &driver);
  EXPECT_EQ(network.Delay(0, 1, 0), 500);
  EXPECT_EQ(network.Delay(0, 0, 0), 0);
  network.Start(0, {.from = 0, .to = 1, .bytes = 3 * kSegment}, 0);
  // Behind three frames; at the port, of which one has begun to cross it.
  EXPECT_EQ(network.Delay(0, 2, 0), 500 + 3 * kFrame);
  EXPECT_EQ(network.Delay(2, 1, 100), 500 + kFrame - 100);
}

TEST(PacketNetworkTest, WhatOverflowsAPortIsSentAgain) {
  std::vector<TestMessage> incast;
  for (Rank from = 1; from < 9; ++from) {
    incast.push_back({.from = from, .to = 0, .bytes = 200 * kSegment});
  }
  const Carried lossy(9, {.bandwidth = kGoodput, .latency = 10'000, .port_queue = 20 * kFrame},
                      incast);
  EXPECT_GT(lossy.network.lost(), 0);
  for (const Nanoseconds arrived : lossy.driver.arrived()) EXPECT_GE(arrived, 200 * kFrame);
  EXPECT_GE(std::ranges::max(lossy.driver.arrived()), 10'000 + 1600 * kFrame);

  const Carried patient(9, {.bandwidth = kGoodput, .latency = 10'000}, incast);
  EXPECT_EQ(patient.network.lost(), 0);
  // The port is never idle.
  EXPECT_EQ(std::ranges::max(patient.driver.arrived()), 10'000 + 1600 * kFrame);
}

}  // namespace
}  // namespace grapevine
