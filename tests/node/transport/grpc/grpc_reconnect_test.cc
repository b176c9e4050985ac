// Connections between two living nodes that break: over gRPC and a relay that cuts them.
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/transport/grpc/grpc_network.h"
#include "tests/node/transport/random_traffic.h"
#include "tests/testing/sightings.h"
#include "tests/testing/tcp_relay.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

constexpr Tag kTrafficTag{.index = 4};

Tag Step(uint32_t step) { return {.index = 4, .step = step}; }

int PortOf(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

// Each node is called through a relay of its own.
class RelayedNetwork final : public TransportNetwork {
 public:
  explicit RelayedNetwork(int nodes, GrpcTransportOptions options = {}) : TransportNetwork(nodes) {
    std::vector<std::string> addresses;
    for (Rank rank = 0; rank < nodes; ++rank) {
      EdgeIdentity self = TestIdentity(rank, nodes);
      self.call.process = static_cast<uint64_t>(rank) + 1;
      nodes_.push_back(std::make_unique<GrpcNode>(std::move(self), options, &sink(rank)));
      relays_.push_back(std::make_unique<TcpRelay>(PortOf(nodes_.back()->address())));
      addresses.push_back(absl::StrCat("127.0.0.1:", relays_.back()->port()));
    }
    for (const auto& node : nodes_) node->transport().Join(kTestRun, addresses);
  }

  GrpcTransport& transport(Rank rank) override { return nodes_[rank]->transport(); }
  TcpRelay& relay_to(Rank rank) { return *relays_[rank]; }

 private:
  std::vector<std::unique_ptr<TcpRelay>> relays_;
  std::vector<std::unique_ptr<GrpcNode>> nodes_;
};

void ExpectDelivered(RelayedNetwork& network, Tag tag, int64_t elements) {
  const SharedSlice sent = Pattern(elements, 1), buffer = Zeros(elements);
  ASSERT_TRUE(network.transport(1).Post(0, tag, buffer).ok());
  ASSERT_TRUE(network.transport(0).Send(1, tag, sent).ok());
  ASSERT_TRUE(network.sink(1).AwaitReceived(0, tag));
  ASSERT_TRUE(network.sink(0).AwaitSent(1, tag));
  EXPECT_TRUE(SameBits(sent, buffer));
}

TEST(GrpcReconnect, MessagesGoOnAfterACut) {
  RelayedNetwork network(2);
  ExpectDelivered(network, Step(0), 1000);
  for (uint32_t step = 1; step <= 3; ++step) {
    network.relay_to(1).Cut();
    ExpectDelivered(network, Step(step), 1000);
  }
  EXPECT_GE(network.relay_to(1).connections(), 4);
  EXPECT_EQ(network.sink(0).failures(), 0) << network.sink(0).AwaitFailure(1);
  EXPECT_EQ(network.sink(1).failures(), 0) << network.sink(1).AwaitFailure(0);
}

// No connection lives long enough for the whole message: each goes on where the last one broke.
TEST(GrpcReconnect, AMessageThatIsCutGoesOnWhereItWas) {
  RelayedNetwork network(2);
  network.relay_to(1).BreakAfter(3 << 20);
  constexpr int64_t kElements = 2 << 20;
  ExpectDelivered(network, kTrafficTag, kElements);
  EXPECT_GE(network.relay_to(1).broken(), 2);
  const TransportCounters receiver = network.transport(1).counters();
  EXPECT_EQ(receiver.bytes_received, 4 * kElements) << "nothing came twice";
  EXPECT_EQ(receiver.messages_received, 1);
}

TEST(GrpcReconnect, APostThatWasCutOffIsStillThere) {
  RelayedNetwork network(2);
  ExpectDelivered(network, Step(0), 10);
  const SharedSlice buffer = Zeros(1000), sent = Pattern(1000, 3);
  ASSERT_TRUE(network.transport(1).Post(0, Step(1), buffer).ok());
  network.relay_to(1).Refuse(true);
  network.relay_to(1).Cut();
  ASSERT_TRUE(network.transport(0).Send(1, Step(1), sent).ok());
  ASSERT_TRUE(network.transport(1).Post(0, Step(2), Zeros(10)).ok());
  ASSERT_TRUE(network.transport(1).Withdraw(0, Step(2)).ok());
  network.relay_to(1).Refuse(false);
  ASSERT_TRUE(network.sink(1).AwaitReceived(0, Step(1)));
  EXPECT_TRUE(SameBits(buffer, sent));
  ASSERT_TRUE(network.sink(1).AwaitLost(0, Step(2)));
  ASSERT_TRUE(network.sink(0).AwaitSent(1, Step(1)));
}

TEST(GrpcReconnect, AnEdgeThatStaysCutFailsBothEnds) {
  RelayedNetwork network(2, {.peer_timeout = std::chrono::milliseconds(600)});
  ExpectDelivered(network, Step(0), 10);
  network.relay_to(1).Refuse(true);
  network.relay_to(1).Cut();
  for (const Rank rank : {0, 1}) {
    const absl::Status failure = network.sink(rank).AwaitFailure(1 - rank);
    EXPECT_THAT(std::string(failure.message()),
                HasSubstr("it was not connected again within 0.6 s (--peer-timeout)"));
    EXPECT_EQ(network.sink(rank).failures(), 1);
  }
}

TEST(GrpcReconnect, WhoIsConnectedIsTold) {
  using Connected = std::map<Rank, bool>;
  RelayedNetwork network(2);
  GrpcTransport& transport = network.transport(0);
  const auto await = [&transport](const Connected& expected) {
    while (transport.Connected() != expected) std::this_thread::yield();
  };
  EXPECT_EQ(transport.Connected(), Connected()) << "nobody is dialled";
  ExpectDelivered(network, Step(0), 10);
  await({{1, true}});
  network.relay_to(1).Refuse(true);
  network.relay_to(1).Cut();
  await({{1, false}});
  network.relay_to(1).Refuse(false);
  await({{1, true}});
  transport.GiveUp(1, absl::UnavailableError("it is lost"));
  EXPECT_EQ(transport.Connected(), Connected());
}

// No connection lives long enough for a single chunk.
TEST(GrpcReconnect, AnEdgeThatGetsNoFurtherFails) {
  RelayedNetwork network(2, {.peer_timeout = std::chrono::milliseconds(600)});
  network.relay_to(1).BreakAfter(500'000);
  ASSERT_TRUE(network.transport(1).Post(0, kTrafficTag, Zeros(1 << 20)).ok());
  ASSERT_TRUE(network.transport(0).Send(1, kTrafficTag, Pattern(1 << 20, 1)).ok());
  EXPECT_FALSE(network.sink(0).AwaitFailure(1).ok());
  EXPECT_FALSE(network.sink(1).AwaitFailure(0).ok());
  EXPECT_GE(network.relay_to(1).broken(), 2);
}

TEST(GrpcReconnect, EveryPostAndEverySendEndsOnceWhateverBreaks) {
  PlaySeeds(3, 1, [&](uint64_t seed, Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RelayedNetwork network(3);
    for (const Rank rank : {0, 1, 2}) network.relay_to(rank).BreakAfter(2'000'000 + 700'000 * rank);
    RandomTraffic traffic(&network, 3, seed);
    ASSERT_EQ(traffic.Run(200), "");
    for (const Rank rank : {0, 1, 2}) seen.Count("breaks", network.relay_to(rank).broken());
  });
}

}  // namespace
}  // namespace grapevine::testing
