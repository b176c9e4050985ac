#include "gtest/gtest.h"
#include "node/transport/transport.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

constexpr Tag kTag{.index = 4};

TEST(SinkGate, ReportsNothingMoreAboutAPeerThatFailed) {
  RecordingSink sink;
  SinkGate gate(&sink);
  gate.PeerFailed(3, absl::UnavailableError("first"));
  gate.PeerFailed(3, absl::UnavailableError("second"));
  EXPECT_EQ(sink.AwaitFailure(3).message(), "first");
  EXPECT_EQ(sink.failures(), 1);
  for (const Rank peer : {3, 4}) {
    gate.Received({.from = peer, .tag = kTag});
    gate.Left(peer, kTag);
    gate.Sent(peer, kTag);
    gate.Offered({.from = peer, .tag = kTag});
    gate.Lost(peer, kTag);
    gate.Declined(peer, kTag);
  }
  EXPECT_TRUE(sink.HasReceived(4, kTag));
  EXPECT_EQ(sink.received(), 1);
  EXPECT_EQ(sink.left(), 1);
  EXPECT_EQ(sink.sent(), 1);
  EXPECT_EQ(sink.offered(), 1);
  EXPECT_EQ(sink.lost(), 1);
  EXPECT_EQ(sink.declined(), 1);
}

TEST(SinkGate, NothingPassesOnceItIsClosed) {
  RecordingSink sink;
  SinkGate gate(&sink);
  gate.Close();
  gate.Received({.from = 3, .tag = kTag});
  gate.Left(3, kTag);
  gate.Sent(3, kTag);
  gate.PeerFailed(3, absl::UnavailableError("gone"));
  EXPECT_EQ(sink.received() + sink.left() + sink.sent() + sink.failures(), 0);
}

}  // namespace
}  // namespace grapevine
