#include "node/transport/edge/peer_link.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Tag kTag{.index = 4};

class FakeStream : public EdgeStream {
 public:
  void Wake() override { ++wakes; }
  void Abort(const absl::Status& why) override { aborted = why; }
  void Leave() override { ++leaves; }

  int wakes = 0;
  int leaves = 0;
  absl::Status aborted;
};

class PeerLinkTest : public ::testing::Test {
 protected:
  // The credits that a link announces next; how many messages it acknowledges, 0 if nothing.
  static std::vector<Tag> Told(PeerLink& link) {
    const std::optional<Grant> grant = link.TakeGrant();
    return grant.has_value() ? grant->tags : std::vector<Tag>{};
  }
  uint64_t Received() {
    const std::optional<Grant> grant = link_.TakeGrant();
    return grant.has_value() ? grant->received : 0;
  }

  // Rank 3 calls, from process 1 for the n-th time.
  absl::StatusOr<ResumePoint> Calls(std::shared_ptr<FakeStream> stream, uint64_t n = 1) {
    return link_.AttachIncoming(std::move(stream), {.process = 1, .number = n});
  }
  // Its stream breaks, and is over.
  void IncomingIsCut() {
    link_.IncomingBroke(absl::UnavailableError("broke off"));
    link_.IncomingClosed();
  }

  static constexpr std::chrono::milliseconds kTick{200}, kPatience{400};

  RecordingSink sink_;
  std::shared_ptr<SinkGate> gate_ = std::make_shared<SinkGate>(&sink_);
  std::shared_ptr<CreditDesk> desk_ = std::make_shared<CreditDesk>();
  const std::shared_ptr<PeerLink> owned_ = std::make_shared<PeerLink>(3, 4000, gate_, desk_);
  PeerLink& link_ = *owned_;
  std::shared_ptr<FakeStream> outgoing_ = std::make_shared<FakeStream>();
  std::shared_ptr<FakeStream> incoming_ = std::make_shared<FakeStream>();
};

TEST_F(PeerLinkTest, KeepsWhatPrecedesItsStreams) {
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  ASSERT_TRUE(Calls(incoming_).ok());
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
  EXPECT_FALSE(link_.TakeGrant().has_value());
  EXPECT_FALSE(link_.Next().has_value());
  ASSERT_TRUE(link_.Granted({.tags = {kTag}}).ok());
  EXPECT_TRUE(link_.Next().has_value());
}

TEST_F(PeerLinkTest, WakesItsStreams) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.AttachOutgoing(outgoing_).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  EXPECT_EQ(incoming_->wakes, 1);
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  EXPECT_EQ(outgoing_->wakes, 1);
}

TEST_F(PeerLinkTest, ACreditInTurnWaitsForTheMessageOfAnotherPeer) {
  const auto other = std::make_shared<PeerLink>(5, 400'000, gate_, desk_);
  ASSERT_TRUE(other->AttachIncoming(incoming_, {}).ok());
  constexpr Tag kNext{.index = kTag.index + 1};
  constexpr int64_t kSize = 2000;
  Round round = 4;
  for (const auto& [link, tag] : {std::pair(&link_, kTag), std::pair(other.get(), kNext)}) {
    Incoming buffer(Zeros(kSize));
    buffer.round = round++;
    buffer.credit = Credit::kInTurn;
    ASSERT_TRUE(link->Post(tag, std::move(buffer)).ok());
  }
  const std::optional<Grant> grant = link_.TakeGrant();
  ASSERT_TRUE(grant.has_value());
  EXPECT_EQ(grant->tags, std::vector<Tag>{kTag});
  EXPECT_EQ(grant->credit, Credit::kInTurn);
  EXPECT_FALSE(other->TakeGrant().has_value());
  EXPECT_EQ(incoming_->wakes, 0);
  const ChunkHeader whole{kTag, 0, 4 * kSize, 4 * kSize, {}};
  ASSERT_TRUE(link_.Accept(whole).ok());
  ASSERT_TRUE(link_.Landed(whole, 0).ok());
  EXPECT_EQ(incoming_->wakes, 1);
  EXPECT_EQ(Told(*other), std::vector<Tag>{kNext});
}

TEST_F(PeerLinkTest, APeerThatIsGivenUpHoldsUpNoCredit) {
  const auto other = std::make_shared<PeerLink>(5, 400'000, gate_, desk_);
  Incoming buffer(Zeros(2000));
  buffer.credit = Credit::kInTurn;
  ASSERT_TRUE(link_.Post(kTag, buffer).ok());
  buffer.round = 1;
  ASSERT_TRUE(other->Post(kTag, buffer).ok());
  EXPECT_FALSE(other->TakeGrant().has_value());
  link_.Break(absl::AbortedError("gone"));
  EXPECT_EQ(Told(*other).size(), 1u);
}

TEST_F(PeerLinkTest, TakesOneIncomingStream) {
  ASSERT_TRUE(Calls(incoming_).ok());
  const absl::Status again = Calls(std::make_shared<FakeStream>()).status();
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << "what was said before";
  EXPECT_THAT(std::string(again.message()), HasSubstr("rank 3 is connected already"));
  const EdgeCall other{.process = 2, .number = 9};
  EXPECT_TRUE(absl::IsAlreadyExists(link_.AttachIncoming(incoming_, other).status()));
  EXPECT_TRUE(incoming_->aborted.ok());
  EXPECT_EQ(sink_.failures(), 0);
}

// This end may be the last to hear that a connection is gone.
TEST_F(PeerLinkTest, ALaterCallEndsTheStreamAndTakesItsPlaceOnceThatIsOver) {
  ASSERT_TRUE(Calls(incoming_).ok());
  const auto next = std::make_shared<FakeStream>();
  EXPECT_TRUE(absl::IsUnavailable(Calls(next, 2).status()));
  EXPECT_THAT(std::string(incoming_->aborted.message()), HasSubstr("rank 3 has come again"));
  EXPECT_TRUE(absl::IsUnavailable(Calls(next, 3).status())) << "it is not over yet";
  link_.IncomingClosed();
  EXPECT_TRUE(absl::IsAlreadyExists(Calls(next, 2).status())) << "that call has ended";
  EXPECT_TRUE(Calls(next, 4).ok());
  EXPECT_EQ(sink_.failures(), 0);
}

TEST_F(PeerLinkTest, AnotherProcessInItsPlaceIsADeath) {
  ASSERT_TRUE(Calls(incoming_).ok());
  IncomingIsCut();
  const EdgeCall other{.process = 2, .number = 9};
  EXPECT_TRUE(absl::IsAborted(link_.AttachIncoming(incoming_, other).status()));
  EXPECT_THAT(std::string(sink_.AwaitFailure(3).message()),
              HasSubstr("rank 3 died: another process has come in its place"));
}

TEST_F(PeerLinkTest, AnotherProcessThatAnswersIsADeath) {
  ASSERT_TRUE(Calls(incoming_).ok());
  EXPECT_TRUE(link_.Resume(1, {}).ok());
  EXPECT_THAT(std::string(link_.Resume(2, {}).message()),
              HasSubstr("answers as another process than before"));
}

// All that was told on the stream that broke may have been lost.
TEST_F(PeerLinkTest, ANewStreamTellsWhatTheLastOneTold) {
  constexpr Tag kHalf{.index = 5}, kLost{.index = 6}, kOffer{.index = 7}, kAnswered{.index = 8};
  ASSERT_TRUE(Calls(incoming_).ok());
  for (const Tag tag : {kTag, kHalf, kLost}) ASSERT_TRUE(link_.Post(tag, Zeros(2)).ok());
  ASSERT_TRUE(link_.Offered({.tag = kOffer, .bytes = 4}).ok());
  ASSERT_TRUE(link_.Offered({.tag = kAnswered, .bytes = 4}).ok());
  ASSERT_TRUE(link_.Offered({.tag = {.index = 9}, .bytes = 4}).ok());
  ASSERT_TRUE(link_.Post(kAnswered, Zeros(1)).ok());
  ASSERT_TRUE(link_.Decline({.index = 9}).ok());
  while (link_.TakeGrant().has_value()) continue;
  ASSERT_TRUE(link_.Withdraw(kLost).ok());
  const ChunkHeader half{kHalf, 0, 4, 8, {}};
  ASSERT_TRUE(link_.Accept(half).ok());
  ASSERT_TRUE(link_.Landed(half, 0).ok());
  IncomingIsCut();
  ASSERT_TRUE(link_.Post({.index = 10}, Zeros(1)).ok());
  const absl::StatusOr<ResumePoint> point = Calls(std::make_shared<FakeStream>(), 2);
  ASSERT_TRUE(point.ok()) << point.status();
  EXPECT_EQ(point->received, 0u);
  EXPECT_EQ(point->partial, kHalf);
  EXPECT_EQ(point->partial_bytes, 4);
  EXPECT_EQ(point->offers, 3u);
  EXPECT_THAT(point->open_offers, ::testing::UnorderedElementsAre(1u, 2u));
  const std::optional<Grant> grant = link_.TakeGrant();
  ASSERT_TRUE(grant.has_value());
  EXPECT_THAT(grant->tags, ::testing::ElementsAre(kTag, kLost, kAnswered, Tag{.index = 10}));
  EXPECT_TRUE(grant->declined.empty()) << "its offer is not open";
  EXPECT_TRUE(grant->withdrawn.empty());
  const std::optional<Grant> next = link_.TakeGrant();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->withdrawn, std::vector<Tag>{kLost}) << "it may be used, and then is needed";
  EXPECT_EQ(sink_.lost(), 0);
}

// Its message may have left before.
TEST_F(PeerLinkTest, ACreditOfWhichTheLastStreamToldIsAskedBack) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
  IncomingIsCut();
  ASSERT_TRUE(Calls(incoming_, 2).ok());
  ASSERT_TRUE(link_.Withdraw(kTag).ok());
  EXPECT_EQ(sink_.lost(), 0);
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
  const std::optional<Grant> grant = link_.TakeGrant();
  ASSERT_TRUE(grant.has_value());
  EXPECT_EQ(grant->withdrawn, std::vector<Tag>{kTag});
  EXPECT_FALSE(link_.TakeGrant().has_value());
}

TEST_F(PeerLinkTest, AMessageThatWasOfferedIsNotLostWithItsStream) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.Offered({.tag = kTag, .bytes = 4}).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  IncomingIsCut();
  ASSERT_TRUE(link_.Withdraw(kTag).ok());
  ASSERT_TRUE(Calls(incoming_, 2).ok());
  EXPECT_EQ(sink_.lost(), 0);
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
}

TEST_F(PeerLinkTest, TellsThePeerWhatIsHere) {
  ASSERT_TRUE(Calls(incoming_).ok());
  // A message is told of only once the sink knows.
  std::vector<uint64_t> told;
  sink_.on_received = [&] { told.push_back(Received()); };
  for (const Round index : {1, 2, 3}) {
    const ChunkHeader whole{{.index = index}, 0, 4, 4, {}};
    ASSERT_TRUE(link_.Post(whole.tag, Zeros(1)).ok());
    ASSERT_TRUE(link_.Accept(whole).ok());
    incoming_->wakes = 0;
    ASSERT_TRUE(link_.Landed(whole, 0).ok());
    EXPECT_EQ(incoming_->wakes, 1);
  }
  EXPECT_THAT(told, ::testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(Received(), 3u);
  EXPECT_EQ(Received(), 0u);
}

TEST_F(PeerLinkTest, AMessageIsSentOnceThePeerSaysSo) {
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  ASSERT_TRUE(link_.Granted({.tags = {kTag}}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(link_.Granted({.tags = {}, .received = 1})))
      << "it has not left";
  std::optional<PeerLink::Departing> piece = link_.Next();
  EXPECT_EQ(sink_.left(), 0);
  ASSERT_TRUE(link_.Granted({.tags = {}, .received = 1}).ok());
  EXPECT_EQ(sink_.sent(), 0) << "its bytes are held";
  piece.reset();
  EXPECT_EQ(sink_.left(), 1);
  EXPECT_EQ(sink_.sent(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(link_.Granted({.tags = {}, .received = 1}))) << "twice";
}

TEST_F(PeerLinkTest, SaysNoBeforeItSaysYes) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.Offered({.tag = kTag, .bytes = 4}).ok());
  EXPECT_EQ(sink_.offered(), 1);
  ASSERT_TRUE(link_.Decline(kTag).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());  // for the next message of that name
  const std::optional<Grant> first = link_.TakeGrant();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->declined, std::vector<Tag>{kTag});
  EXPECT_TRUE(first->tags.empty());
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
}

TEST_F(PeerLinkTest, ACreditThatWasNotToldIsTakenBackAtOnce) {
  const SharedSlice buffer = Zeros(1);
  ASSERT_TRUE(link_.Post(kTag, buffer).ok());
  ASSERT_TRUE(link_.Withdraw(kTag).ok());
  EXPECT_EQ(sink_.lost(), 1);
  EXPECT_EQ(buffer.owner.use_count(), 1);
  EXPECT_FALSE(link_.TakeGrant().has_value());
}

TEST_F(PeerLinkTest, ACreditThatWasToldComesBackFirst) {
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
  ASSERT_TRUE(link_.Withdraw(kTag).ok());
  EXPECT_EQ(sink_.lost(), 0);
  const std::optional<Grant> grant = link_.TakeGrant();
  ASSERT_TRUE(grant.has_value());
  EXPECT_EQ(grant->withdrawn, std::vector<Tag>{kTag});
  ASSERT_TRUE(link_.Returned({kTag}).ok());
  EXPECT_EQ(sink_.lost(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(link_.Returned({kTag}))) << "twice";
}

// Messages of other peers wait for it no longer.
TEST_F(PeerLinkTest, ACreditInTurnThatIsTakenBackHoldsUpNobody) {
  const auto other = std::make_shared<PeerLink>(5, 400'000, gate_, desk_);
  constexpr Tag kNext{.index = kTag.index + 1}, kLast{.index = kTag.index + 2};
  Incoming buffer(Zeros(2000));
  buffer.credit = Credit::kInTurn;
  ASSERT_TRUE(link_.Post(kTag, buffer).ok());
  for (const Tag tag : {kNext, kLast}) {
    ++buffer.round;
    ASSERT_TRUE(other->Post(tag, buffer).ok());
  }
  EXPECT_EQ(Told(link_), std::vector<Tag>{kTag});
  EXPECT_FALSE(other->TakeGrant().has_value());
  ASSERT_TRUE(other->Withdraw(kNext).ok());
  EXPECT_EQ(sink_.lost(), 1) << "it was held";
  ASSERT_TRUE(link_.Withdraw(kTag).ok());
  EXPECT_FALSE(other->TakeGrant().has_value()) << "the message may still come";
  ASSERT_TRUE(link_.Returned({kTag}).ok());
  EXPECT_EQ(sink_.lost(), 2);
  EXPECT_EQ(Told(*other), std::vector<Tag>{kLast});
}

TEST_F(PeerLinkTest, APeerThatIsLostIsOfferedNothing) {
  link_.Break(absl::AbortedError("gone"));
  EXPECT_TRUE(link_.Offered({.tag = kTag}).ok());
  EXPECT_EQ(sink_.offered(), 0);
  EXPECT_EQ(link_.Decline(kTag).message(), "gone");
  EXPECT_EQ(link_.Withdraw(kTag).message(), "gone");
}

TEST_F(PeerLinkTest, WhatHasLeftForAPeerThatIsLostIsNotSent) {
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  ASSERT_TRUE(link_.Granted({.tags = {kTag}}).ok());
  EXPECT_TRUE(link_.Next().has_value());
  EXPECT_EQ(sink_.left(), 1);
  link_.OutgoingEnded();
  EXPECT_EQ(sink_.AwaitFailure(3).message(), "rank 3 left the run");
  EXPECT_EQ(sink_.sent(), 0);
}

TEST_F(PeerLinkTest, BreaksOnce) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.AttachOutgoing(outgoing_).ok());
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  link_.Break(absl::AbortedError("first"));
  link_.Break(absl::AbortedError("second"));
  EXPECT_EQ(sink_.failures(), 1);
  EXPECT_EQ(sink_.AwaitFailure(3).message(), "first");
  EXPECT_EQ(incoming_->aborted.message(), "first");
  EXPECT_EQ(outgoing_->aborted.message(), "first");
  EXPECT_EQ(sink_.left(), 0);
  EXPECT_EQ(sink_.sent(), 0);
  EXPECT_EQ(link_.Send(kTag, Zeros(1), nullptr).message(), "first");
  EXPECT_EQ(link_.Post(kTag, Zeros(1)).message(), "first");
  EXPECT_EQ(link_.AttachOutgoing(outgoing_).message(), "first");
}

TEST_F(PeerLinkTest, APeerMayLeaveWhenNothingIsAwaited) {
  link_.IncomingEnded();
  EXPECT_FALSE(link_.outgoing_over());
  link_.OutgoingEnded();
  EXPECT_TRUE(link_.outgoing_over());
  EXPECT_FALSE(link_.broken());
  EXPECT_EQ(sink_.failures(), 0);
  EXPECT_EQ(link_.Post(kTag, Zeros(1)).message(), "rank 3 left the run");
  EXPECT_EQ(link_.Send(kTag, Zeros(1), nullptr).message(), "rank 3 left the run");
}

TEST_F(PeerLinkTest, APeerThatLeavesAPostBehindFailed) {
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  link_.OutgoingEnded();
  EXPECT_EQ(sink_.failures(), 0);  // what it sent may still be underway
  link_.IncomingEnded();
  EXPECT_TRUE(absl::IsUnavailable(sink_.AwaitFailure(3)));
}

TEST_F(PeerLinkTest, APeerThatLeavesAMessageBehindFailed) {
  ASSERT_TRUE(link_.Send(kTag, Zeros(1), nullptr).ok());
  link_.OutgoingEnded();
  EXPECT_TRUE(absl::IsUnavailable(sink_.AwaitFailure(3)));
}

TEST_F(PeerLinkTest, AnInterruptionThatLastsIsAFailure) {
  ASSERT_TRUE(Calls(incoming_).ok());
  IncomingIsCut();
  link_.Tick(kTick, kPatience);
  EXPECT_EQ(sink_.failures(), 0);
  link_.Tick(kTick, kPatience);
  EXPECT_EQ(sink_.AwaitFailure(3).message(),
            "broke off; it was not connected again within 0.4 s (--peer-timeout)");
}

TEST_F(PeerLinkTest, AnInterruptionThatEndsInTimeIsNone) {
  for (uint64_t call = 1; call <= 5; ++call) {
    ASSERT_TRUE(Calls(incoming_, call).ok());
    ASSERT_TRUE(link_.Resume(1, {}).ok());
    link_.Tick(kTick, kPatience);
    IncomingIsCut();
    link_.OutgoingBroke(absl::UnavailableError("broke off, too"));
    link_.Tick(kTick, kPatience);
  }
  EXPECT_TRUE(link_.outgoing_interrupted());
  EXPECT_EQ(sink_.failures(), 0);
}

// What waits at either end gets no further.
TEST_F(PeerLinkTest, InterruptionsWithoutProgressAddUp) {
  const auto other = std::make_shared<PeerLink>(5, 4000, gate_, desk_);
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  ASSERT_TRUE(other->Send(kTag, Zeros(1), nullptr).ok());
  for (uint64_t call = 1; call <= 2; ++call) {
    ASSERT_TRUE(Calls(incoming_, call).ok());
    ASSERT_TRUE(other->Resume(1, {}).ok());
    ASSERT_TRUE(other->Granted({.tags = {kTag}}).ok());
    ASSERT_TRUE(other->Next().has_value());
    for (const auto& link : {owned_, other}) link->Tick(kPatience, kPatience);
    EXPECT_EQ(sink_.failures(), 0) << "it is connected";
    IncomingIsCut();
    other->OutgoingBroke(absl::UnavailableError("broke off"));
    for (const auto& link : {owned_, other}) link->Tick(kTick, kPatience);
  }
  for (const Rank rank : {3, 5}) {
    EXPECT_EQ(sink_.AwaitFailure(rank).message(),
              "broke off; connected again and again, it got no further in 0.4 s without a "
              "connection (--peer-timeout)");
  }
}

TEST_F(PeerLinkTest, AnInterruptionIsOverOnceSomethingNewHasCome) {
  const auto other = std::make_shared<PeerLink>(5, 4000, gate_, desk_);
  constexpr int64_t kBytes = 16000;
  ASSERT_TRUE(link_.Post(kTag, Zeros(kBytes / 4)).ok());
  ASSERT_TRUE(other->Send(kTag, Zeros(kBytes / 4), nullptr).ok());
  for (uint64_t call = 1; call <= 3; ++call) {
    const absl::StatusOr<ResumePoint> point = Calls(incoming_, call);
    ASSERT_TRUE(point.ok());
    ASSERT_TRUE(other->Resume(1, *point).ok());
    if (call == 1) {
      ASSERT_TRUE(other->Granted({.tags = {kTag}}).ok());
    }
    const std::optional<PeerLink::Departing> piece = other->Next();
    ASSERT_TRUE(piece.has_value());
    ASSERT_TRUE(link_.Landed(std::get<Piece>(*piece).header, 0).ok());
    IncomingIsCut();
    other->OutgoingBroke(absl::UnavailableError("broke off"));
    for (const auto& link : {owned_, other}) link->Tick(kTick, kPatience);
  }
  EXPECT_EQ(sink_.failures(), 0);
}

// It says that more and less has arrived, in turn.
TEST_F(PeerLinkTest, WhatHasArrivedBeforeIsNoProgress) {
  constexpr std::chrono::milliseconds kLong = 5 * kTick;
  ASSERT_TRUE(link_.Send(kTag, Zeros(4000), nullptr).ok());
  for (int call = 0; call < 6; ++call) {
    ASSERT_TRUE(link_.Resume(1, {.partial_bytes = call % 2 * 4000, .partial = kTag}).ok());
    if (call % 2 == 0) {
      ASSERT_TRUE(link_.Granted({.tags = {kTag}}).ok());
    }
    ASSERT_TRUE(link_.Next().has_value());
    link_.OutgoingBroke(absl::UnavailableError("broke off"));
    link_.Tick(kTick, kLong);
    EXPECT_EQ(sink_.failures(), call == 5 ? 1 : 0) << call;
  }
}

TEST_F(PeerLinkTest, AFailureAfterAnInterruptionSaysWhatWasTried) {
  ASSERT_TRUE(link_.Resume(1, {}).ok());
  link_.OutgoingBroke(absl::UnavailableError("broke off"));
  link_.NotMended(absl::UnavailableError("nobody listens"));
  link_.Tick(kPatience, kPatience);
  EXPECT_EQ(sink_.AwaitFailure(3).message(),
            "broke off; it was not connected again within 0.4 s (--peer-timeout): nobody listens");
}

// A process that ends does not say goodbye on both of its streams before it is gone.
TEST_F(PeerLinkTest, AStreamThatBreaksAfterAGoodbyeHasEnded) {
  ASSERT_TRUE(Calls(incoming_).ok());
  link_.IncomingEnded();
  link_.OutgoingBroke(absl::UnavailableError("broke off"));
  EXPECT_TRUE(link_.outgoing_over());
  link_.Tick(kPatience, kPatience);
  EXPECT_EQ(sink_.failures(), 0);
}

// It will neither call nor answer again.
TEST_F(PeerLinkTest, APeerThatLeavesEndsWhatWasInterrupted) {
  ASSERT_TRUE(Calls(incoming_).ok());
  IncomingIsCut();
  link_.OutgoingEnded();
  const auto other = std::make_shared<PeerLink>(5, 4000, gate_, desk_);
  other->OutgoingBroke(absl::UnavailableError("broke off"));
  other->IncomingEnded();
  EXPECT_TRUE(other->outgoing_over());
  for (const auto& link : {owned_, other}) {
    link->Tick(kPatience, kPatience);
    EXPECT_FALSE(link->outgoing_interrupted());
    EXPECT_TRUE(absl::IsUnavailable(link->Send(kTag, Zeros(1), nullptr)));
    EXPECT_TRUE(absl::IsUnavailable(link->Post(kTag, Zeros(1))));
  }
  EXPECT_EQ(sink_.failures(), 0);
}

TEST_F(PeerLinkTest, APeerThatLeavesWhatWasInterruptedAndNeededFailed) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  IncomingIsCut();
  link_.OutgoingEnded();
  EXPECT_EQ(sink_.AwaitFailure(3).message(), "rank 3 left the run");
  const auto other = std::make_shared<PeerLink>(5, 4000, gate_, desk_);
  ASSERT_TRUE(other->Send(kTag, Zeros(1), nullptr).ok());
  other->OutgoingBroke(absl::UnavailableError("broke off"));
  other->IncomingEnded();
  EXPECT_EQ(sink_.AwaitFailure(5).message(), "rank 5 left the run");
}

// A stream that is cut may end with CANCELLED, and a peer be given up with it.
TEST_F(PeerLinkTest, OnlyWhoHasLeftLetsACallerComeAgain) {
  link_.Break(absl::CancelledError("cut"));
  EXPECT_TRUE(absl::IsAborted(Calls(incoming_).status()));
  const auto other = std::make_shared<PeerLink>(5, 4000, gate_, desk_);
  other->Leave();
  EXPECT_TRUE(absl::IsUnavailable(other->AttachIncoming(incoming_, {}).status()));
}

TEST_F(PeerLinkTest, LeavingIsNoFailure) {
  ASSERT_TRUE(Calls(incoming_).ok());
  ASSERT_TRUE(link_.AttachOutgoing(outgoing_).ok());
  ASSERT_TRUE(link_.Post(kTag, Zeros(1)).ok());
  link_.Leave();
  link_.Leave();
  EXPECT_EQ(incoming_->leaves, 1);
  EXPECT_EQ(outgoing_->leaves, 1);
  EXPECT_EQ(sink_.failures(), 0);
  EXPECT_TRUE(absl::IsCancelled(link_.Post(kTag, Zeros(1))));
}

// Its sender has yet to hear of it: "sent without a post" would be an accusation.
TEST_F(PeerLinkTest, WhatComesOnceANodeHasLeftIsNoViolation) {
  ASSERT_TRUE(link_.Post(kTag, Zeros(2)).ok());
  const ChunkHeader half{.tag = kTag, .offset = 0, .size = 4, .total = 8, .crc32c = {}};
  const ChunkHeader rest{.tag = kTag, .offset = 4, .size = 4, .total = 8, .crc32c = {}};
  const auto landing = link_.Accept(half);
  ASSERT_TRUE(landing.ok() && landing->has_value()) << landing.status();
  link_.Leave();
  const absl::Status landed = link_.Landed(half, 0);
  EXPECT_TRUE(landed.ok()) << landed;
  const auto late = link_.Accept(rest);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_FALSE(late->has_value());
  EXPECT_EQ(link_.counters().bytes_received, 0);
  EXPECT_EQ(sink_.failures(), 0);
}

TEST(PeerLinksTest, ARenewedLinkIsOfTheNewProcessAndTheOldOnesBytesCount) {
  RecordingSink sink;
  PeerLinks links(0, 3, 4000, std::make_shared<SinkGate>(&sink));
  const auto receive = [](PeerLink& link) {
    ASSERT_TRUE(link.Post(kTag, Zeros(10)).ok());
    const ChunkHeader whole{kTag, 0, 40, 40, {}};
    ASSERT_TRUE(link.Accept(whole).ok());
    ASSERT_TRUE(link.Landed(whole, 0).ok());
  };
  const auto old = *links.To(1);
  ASSERT_TRUE(
      old->AttachIncoming(std::make_shared<FakeStream>(), {.process = 11, .number = 1}).ok());
  receive(*old);
  old->GiveUp(absl::UnavailableError("rank 1 died"));
  EXPECT_TRUE(old->HasGivenUp(11));
  EXPECT_FALSE(old->HasGivenUp(12));
  links.Renew(1, 12);
  const auto renewed = *links.To(1);
  EXPECT_NE(renewed, old);
  EXPECT_FALSE(renewed->broken());
  EXPECT_FALSE(renewed->HasGivenUp(12));
  EXPECT_FALSE(
      renewed->AttachIncoming(std::make_shared<FakeStream>(), {.process = 11, .number = 9}).ok());
  EXPECT_FALSE(renewed->broken());
  EXPECT_TRUE(
      renewed->AttachIncoming(std::make_shared<FakeStream>(), {.process = 12, .number = 1}).ok());
  receive(*renewed);
  EXPECT_EQ(links.counters().messages_received, 2);
  EXPECT_EQ(links.counters().bytes_received, 80);
  EXPECT_EQ(links.All().size(), 1u);
  links.Renew(2, 21);  // of which nothing was needed before
  EXPECT_FALSE((*links.To(2))->broken());
  for (const auto& link : links.All()) link->Leave();
}

}  // namespace
}  // namespace grapevine
