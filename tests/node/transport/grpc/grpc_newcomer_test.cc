// A peer that was given up, and is in the run again as another process at another address.
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/transport/grpc/grpc_transport.h"
#include "tests/node/transport/grpc/grpc_network.h"

namespace grapevine {
namespace {

constexpr uint64_t kOldProcess = 11, kNewProcess = 12;
constexpr Tag kOldTag{.index = 3}, kNewTag{.index = 4};

EdgeIdentity ProcessOf(Rank rank, uint64_t process) {
  EdgeIdentity identity = TestIdentity(rank, 2);
  identity.call.process = process;
  return identity;
}

// Two nodes, and the one that comes in the place of the second.
class GrpcNewcomer : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> addresses = {stays_.address(), old_->address()};
    stays_.transport().Join(kTestRun, addresses);
    old_->transport().Join(kTestRun, addresses);
    ExpectDelivered(stays_, 0, *old_, 1, old_sink_, kOldTag);
    ExpectDelivered(*old_, 1, stays_, 0, sink_, kOldTag);
  }

  static void ExpectDelivered(GrpcNode& from, Rank sender, GrpcNode& to, Rank receiver,
                              RecordingSink& sink, Tag tag) {
    const SharedSlice sent = Pattern(1000, 1), buffer = Zeros(1000);
    ASSERT_TRUE(to.transport().Post(sender, tag, buffer).ok());
    ASSERT_TRUE(from.transport().Send(receiver, tag, sent).ok());
    ASSERT_TRUE(sink.AwaitReceived(sender, tag));
    EXPECT_TRUE(SameBits(sent, buffer));
  }
  void GiveUp() {
    stays_.transport().GiveUp(1, absl::UnavailableError("rank 1 died"));
    EXPECT_FALSE(sink_.AwaitFailure(1).ok());
  }
  void NewcomerJoins() {
    newcomer_.transport().Join(kTestRun, {stays_.address(), newcomer_.address()});
  }
  void TakeIn() {
    stays_.transport().Expect(1, kNewProcess, newcomer_.address());
    stays_.transport().TakeIn(1);
  }
  void ExpectBothWays() {
    ExpectDelivered(newcomer_, 1, stays_, 0, sink_, kNewTag);
    ExpectDelivered(stays_, 0, newcomer_, 1, new_sink_, kNewTag);
    EXPECT_EQ(new_sink_.failures(), 0) << new_sink_.AwaitFailure(0);
    EXPECT_EQ(sink_.failures(), 1) << "of the one before";
  }

  RecordingSink sink_, old_sink_, new_sink_;
  GrpcNode stays_{ProcessOf(0, 1), {}, &sink_};
  std::optional<GrpcNode> old_{std::in_place, ProcessOf(1, kOldProcess), GrpcTransportOptions(),
                               &old_sink_};
  GrpcNode newcomer_{ProcessOf(1, kNewProcess), {}, &new_sink_};
};

TEST_F(GrpcNewcomer, MessagesPassAgain) {
  old_.reset();
  GiveUp();
  TakeIn();
  NewcomerJoins();
  ExpectBothWays();
  const TransportCounters counters = stays_.transport().counters();
  EXPECT_EQ(counters.messages_sent, 2) << "those to the one before, too";
  EXPECT_EQ(counters.messages_received, 2);
}

TEST_F(GrpcNewcomer, ItMayCallBeforeItIsTakenIn) {
  old_.reset();
  GiveUp();
  NewcomerJoins();
  const SharedSlice sent = Pattern(1000, 2), buffer = Zeros(1000);
  constexpr Tag kEarly{.index = 9};
  ASSERT_TRUE(newcomer_.transport().Send(0, kEarly, sent).ok());
  // Its call is here once it has connected.
  while (!newcomer_.transport().Connecting().empty()) std::this_thread::yield();
  TakeIn();
  ASSERT_TRUE(stays_.transport().Post(1, kEarly, buffer).ok());
  ASSERT_TRUE(sink_.AwaitReceived(1, kEarly));
  EXPECT_TRUE(SameBits(sent, buffer));
  ExpectBothWays();
}

// It was stopped, say, and knows nothing of this.
TEST_F(GrpcNewcomer, TheOldProcessIsRefusedAndDisturbsNobody) {
  GiveUp();
  EXPECT_FALSE(old_sink_.AwaitFailure(0).ok());
  RecordingSink again_sink;
  GrpcNode again(ProcessOf(1, kOldProcess), {}, &again_sink);
  again.transport().Join(kTestRun, {stays_.address(), again.address()});
  again.transport().Dial(std::vector<Rank>{0});
  EXPECT_FALSE(again_sink.AwaitFailure(0).ok());
  NewcomerJoins();
  TakeIn();
  ExpectBothWays();
}

}  // namespace
}  // namespace grapevine
