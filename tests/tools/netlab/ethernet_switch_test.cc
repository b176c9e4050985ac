#include "tools/netlab/ethernet_switch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace grapevine::netlab {
namespace {

// A switch whose taps are socket pairs: `hosts[i]` is the host's end.
class EthernetSwitchTest : public ::testing::Test {
 protected:
  void Make(int ports, const PortOptions& options) {
    now_ = 0;
    std::vector<UniqueDescriptor> taps;
    for (int port = 0; port < ports; ++port) {
      int pair[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
      taps.emplace_back(pair[0]);
      hosts_.emplace_back(pair[1]);
    }
    switch_.emplace(std::move(taps), options);
  }

  // Host `from` sends a frame to host `to`; -1 is everybody.
  void Send(int from, int to, const std::string& text) {
    std::string frame(to < 0 ? 6 : 5, to < 0 ? '\xff' : '\x02');
    if (to >= 0) frame += static_cast<char>(to);
    frame += std::string(5, '\x02') + static_cast<char>(from) + "\x08" + std::string(1, '\0');
    frame += text;
    ASSERT_EQ(write(hosts_[from].get(), frame.data(), frame.size()),
              static_cast<ssize_t>(frame.size()));
    switch_->Receive(from, now_);
  }

  // What host `host` receives next.
  std::optional<std::string> Next(int host) {
    char buffer[2048];
    const ssize_t size = read(hosts_[host].get(), buffer, sizeof(buffer));
    if (size < static_cast<ssize_t>(kHeaderBytes)) return std::nullopt;
    return std::string(buffer + kHeaderBytes, size - kHeaderBytes);
  }

  void DeliverAt(int64_t now) {
    now_ = now;
    switch_->Deliver(now);
  }

  std::vector<UniqueDescriptor> hosts_;
  std::optional<EthernetSwitch> switch_;
  int64_t now_ = 0;
};

TEST_F(EthernetSwitchTest, HoldsAFrameUntilItIsDue) {
  Make(2, {.latency_ns = 1000});
  Send(0, 1, "hello");
  EXPECT_TRUE(switch_->busy());
  DeliverAt(999);
  EXPECT_EQ(Next(1), std::nullopt);
  DeliverAt(1000);
  EXPECT_EQ(Next(1), "hello");
  EXPECT_FALSE(switch_->busy());
  EXPECT_EQ(switch_->counters().frames, 1);
}

TEST_F(EthernetSwitchTest, FloodsWhatItDoesNotKnowAndLearns) {
  Make(3, {});
  Send(0, -1, "who has 2?");
  DeliverAt(1);
  EXPECT_EQ(Next(0), std::nullopt);
  EXPECT_EQ(Next(1), "who has 2?");
  EXPECT_EQ(Next(2), "who has 2?");
  Send(2, 0, "I");
  DeliverAt(2);
  EXPECT_EQ(Next(0), "I");
  EXPECT_EQ(Next(1), std::nullopt);  // 0 was learnt
}

TEST_F(EthernetSwitchTest, KeepsTheOrderOfFrames) {
  Make(3, {.latency_ns = 100, .bits_per_second = 1'000'000'000});
  Send(2, -1, "");
  for (int i = 0; i < 20; ++i) Send(i % 2, 2, std::to_string(i));
  DeliverAt(1'000'000);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Next(2), std::to_string(i));
}

TEST_F(EthernetSwitchTest, CountsWhatItLoses) {
  Make(2, {.bits_per_second = 8, .queue_bytes = 100});
  Send(0, 1, std::string(100, 'a'));
  Send(0, 1, "b");
  EXPECT_EQ(switch_->counters().queue_drops, 1);
  Send(0, 1, std::string(EthernetSwitch::kMaxFrameBytes, 'c'));
  EXPECT_EQ(switch_->counters().refused_drops, 1);
  switch_->ResetCounters();
  EXPECT_EQ(switch_->counters().queue_drops, 0);
}

TEST_F(EthernetSwitchTest, WhatItHoldsIsBounded) {
  Make(2, {.latency_ns = 1});
  for (size_t i = 0; i < EthernetSwitch::kMaxFrames + 5; ++i) Send(0, 1, "x");
  EXPECT_EQ(switch_->counters().memory_drops, 5);
}

TEST_F(EthernetSwitchTest, MeasuresHowLateItIs) {
  Make(2, {.latency_ns = 1000});
  Send(0, 1, "x");
  DeliverAt(1000 + 42'000);
  EXPECT_EQ(switch_->counters().lateness.count(), 1);
  EXPECT_EQ(switch_->counters().lateness.Quantile(1), 45'000);
}

}  // namespace
}  // namespace grapevine::netlab
