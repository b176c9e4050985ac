#include "node/transport/grpc/grpc_transport.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/beat_counter.h"
#include "tests/node/transport/grpc/grpc_network.h"
#include "tests/node/transport/transport_contract.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

INSTANTIATE_TEST_SUITE_P(Grpc, TransportContract,
                         ::testing::Values(TransportKind{
                             "grpc",
                             [](int nodes) { return std::make_unique<GrpcNetwork>(nodes); }}),
                         [](const auto& info) { return info.param.name; });

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Tag kTag{.index = 3};

// Two nodes with identities of their own.
struct Pair {
  Pair(EdgeIdentity first, EdgeIdentity second)
      : node0(std::move(first), {}, &sink0), node1(std::move(second), {}, &sink1) {}
  std::vector<std::string> addresses() const { return {node0.address(), node1.address()}; }

  RecordingSink sink0, sink1;
  GrpcNode node0, node1;
};

TEST(GrpcTransport, BothSidesRefuseAnotherTopology) {
  EdgeIdentity other = TestIdentity(1, 2);
  other.topology = "torus";
  Pair pair(TestIdentity(0, 2), other);
  pair.node0.transport().Join(kTestRun, pair.addresses());
  pair.node1.transport().Join(kTestRun, pair.addresses());
  pair.node0.transport().Dial(std::vector<Rank>{1});
  pair.node1.transport().Dial(std::vector<Rank>{0});
  const absl::Status at_0 = pair.sink0.AwaitFailure(1);
  const absl::Status at_1 = pair.sink1.AwaitFailure(0);
  EXPECT_TRUE(absl::IsFailedPrecondition(at_0)) << at_0;
  EXPECT_TRUE(absl::IsFailedPrecondition(at_1)) << at_1;
  EXPECT_EQ(FailureOf(at_0), Failure::kRendezvous);
  EXPECT_EQ(FailureOf(at_1), Failure::kRendezvous);
  EXPECT_THAT(std::string(at_0.message()),
              HasSubstr("topology: 'torus' at rank 1, 'ring' at rank 0"));
  EXPECT_THAT(std::string(at_1.message()),
              HasSubstr("topology: 'ring' at rank 0, 'torus' at rank 1"));
}

TEST(GrpcTransport, AnotherRankAtAnAddressIsRefused) {
  Pair pair(TestIdentity(0, 3), TestIdentity(1, 3));
  const std::vector<std::string> wrong = {pair.node0.address(), "127.0.0.1:1",
                                          pair.node1.address()};
  pair.node0.transport().Join(kTestRun, wrong);
  pair.node1.transport().Join(kTestRun, wrong);
  pair.node0.transport().Dial(std::vector<Rank>{2});
  const absl::Status failure = pair.sink0.AwaitFailure(2);
  EXPECT_TRUE(absl::IsFailedPrecondition(failure)) << failure;
  EXPECT_EQ(FailureOf(failure), Failure::kRendezvous);
  EXPECT_THAT(std::string(failure.message()),
              AllOf(HasSubstr("rank 2 (" + pair.node1.address() + ") refused the connection"),
                    HasSubstr("rank 0 means rank 2, but this is rank 1; check the host file")));
}

TEST(GrpcTransport, APeerThatJoinsLaterIsAwaited) {
  Pair pair(TestIdentity(0, 2), TestIdentity(1, 2));
  pair.node0.transport().Join(kTestRun, pair.addresses());
  const SharedSlice sent = Pattern(1000, 1);
  ASSERT_TRUE(pair.node0.transport().Send(1, kTag, sent).ok());
  const SharedSlice buffer = Zeros(1000);
  ASSERT_TRUE(pair.node1.transport().Post(0, kTag, buffer).ok());
  pair.node1.transport().Join(kTestRun, pair.addresses());
  ASSERT_TRUE(pair.sink1.AwaitReceived(0, kTag));
  EXPECT_TRUE(SameBits(sent, buffer));
}

TEST(GrpcTransport, HeartbeatsKeepAnIdleConnection) {
  BeatCounter beats;
  GrpcNetwork network(
      2, {.peer_timeout = testing::Patient(std::chrono::seconds(1)), .round = [&beats] {
            beats.Count();
            return Round{0};
          }});
  const SharedSlice buffer = Zeros(10);
  ASSERT_TRUE(network.transport(0).Send(1, kTag, Pattern(10, 1)).ok());
  ASSERT_TRUE(network.transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network.sink(1).AwaitReceived(0, kTag));
  // Both nodes send four to each other in a time-out: nothing else comes for two.
  ASSERT_TRUE(beats.Await(2 * 2 * 4));
  EXPECT_EQ(network.sink(0).failures(), 0) << network.sink(0).AwaitFailure(1);
  EXPECT_EQ(network.sink(1).failures(), 0) << network.sink(1).AwaitFailure(0);
}

TEST(GrpcTransport, APeerThatLeftInOrderIsNotSilent) {
  BeatCounter beats;
  const GrpcTransportOptions options{.peer_timeout = testing::Patient(std::chrono::seconds(1))};
  GrpcTransportOptions counted = options;
  counted.round = [&beats] {
    beats.Count();
    return Round{0};
  };
  RecordingSink sinks[3];
  GrpcNode node0(TestIdentity(0, 3), counted, &sinks[0]);
  GrpcNode node1(TestIdentity(1, 3), options, &sinks[1]);
  GrpcNode node2(TestIdentity(2, 3), options, &sinks[2]);
  const std::vector<std::string> addresses = {node0.address(), node1.address(), node2.address()};
  for (GrpcNode* node : {&node0, &node1, &node2}) node->transport().Join(kTestRun, addresses);
  for (const Rank peer : {1, 2}) {
    GrpcTransport& there = (peer == 1 ? node1 : node2).transport();
    ASSERT_TRUE(node0.transport().Post(peer, kTag, Zeros(10)).ok());
    ASSERT_TRUE(node0.transport().Send(peer, kTag, Pattern(10, 2)).ok());
    ASSERT_TRUE(there.Post(0, kTag, Zeros(10)).ok());
    ASSERT_TRUE(there.Send(0, kTag, Pattern(10, 1)).ok());
    ASSERT_TRUE(sinks[0].AwaitReceived(peer, kTag));
    ASSERT_TRUE(sinks[peer].AwaitReceived(0, kTag));
  }
  node1.transport().Shutdown();
  // The first node sends rank 2, on both of their streams, four in a time-out: two pass.
  beats.Restart();
  ASSERT_TRUE(beats.Await(2 * 2 * 4));
  EXPECT_EQ(sinks[0].failures(), 0) << sinks[0].AwaitFailure(1);
}

TEST(GrpcTransport, CanBeShutDownBeforeItJoined) {
  RecordingSink sink;
  GrpcNode node(TestIdentity(0, 2), {}, &sink);
  node.transport().Shutdown();
  EXPECT_EQ(sink.failures(), 0);
}

}  // namespace
}  // namespace grapevine
