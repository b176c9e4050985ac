#include "gtest/gtest.h"
#include "node/transport/transport.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

constexpr Tag kGatedTag{.index = 4};

TEST(SinkGate, ReportsNothingMoreAboutAPeerThatFailed) {
  RecordingSink sink;
  SinkGate gate(&sink);
  gate.PeerFailed(3, absl::UnavailableError("first"));
  gate.PeerFailed(3, absl::UnavailableError("second"));
  EXPECT_EQ(sink.AwaitFailure(3).message(), "first");
  EXPECT_EQ(sink.failures(), 1);
  for (const Rank peer : {3, 4}) {
    gate.Received({.from = peer, .tag = kGatedTag});
    gate.Left(peer, kGatedTag);
    gate.Sent(peer, kGatedTag);
    gate.Offered({.from = peer, .tag = kGatedTag});
    gate.Lost(peer, kGatedTag);
    gate.Declined(peer, kGatedTag);
  }
  EXPECT_TRUE(sink.HasReceived(4, kGatedTag));
  EXPECT_EQ(sink.received(), 1);
  EXPECT_EQ(sink.left(), 1);
  EXPECT_EQ(sink.sent(), 1);
  EXPECT_EQ(sink.offered(), 1);
  EXPECT_EQ(sink.lost(), 1);
  EXPECT_EQ(sink.declined(), 1);
}

TEST(SinkGate, ThingsPassAgainOfAPeerThatIsTakenIn) {
  RecordingSink sink;
  SinkGate gate(&sink);
  gate.PeerFailed(3, absl::UnavailableError("first"));
  gate.GiveUp(3);
  gate.TakeIn(3);
  gate.Received({.from = 3, .tag = kGatedTag});
  gate.Sent(3, kGatedTag);
  EXPECT_EQ(sink.received(), 1);
  EXPECT_EQ(sink.sent(), 1);
  EXPECT_EQ(sink.declined(), 0);
  gate.PeerFailed(3, absl::UnavailableError("second"));
  EXPECT_EQ(sink.failures(), 2) << "it may fail again";
}

TEST(SinkGate, NothingPassesOnceItIsClosed) {
  RecordingSink sink;
  SinkGate gate(&sink);
  gate.Close();
  gate.Received({.from = 3, .tag = kGatedTag});
  gate.Left(3, kGatedTag);
  gate.Sent(3, kGatedTag);
  gate.PeerFailed(3, absl::UnavailableError("gone"));
  EXPECT_EQ(sink.received() + sink.left() + sink.sent() + sink.failures(), 0);
}

}  // namespace
}  // namespace grapevine
