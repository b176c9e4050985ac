#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/transport/flow_control.h"
#include "node/transport/transport.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

Tag Step(uint32_t step) { return {.index = 1, .step = step}; }

TEST(SendQueue, CutsAMessageIntoChunks) {
  SendQueue queue(16);
  const SharedSlice whole = Pattern(20, 1);
  queue.Push(Step(1), SharedSlice{whole.owner, 5, 10});
  EXPECT_FALSE(queue.Next().has_value());
  EXPECT_FALSE(queue.ready());
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  EXPECT_TRUE(queue.ready());
  const int64_t sizes[] = {16, 16, 8};
  int64_t offset = 0;
  for (const int64_t size : sizes) {
    const auto piece = queue.Next();
    ASSERT_TRUE(piece.has_value());
    EXPECT_EQ(piece->header.tag, Step(1));
    EXPECT_EQ(piece->header.offset, offset);
    EXPECT_EQ(piece->header.size, size);
    EXPECT_EQ(piece->header.total, 40);
    EXPECT_EQ(piece->header.last(), offset + size == 40);
    EXPECT_EQ(piece->message.begin, SharedBytes(whole).begin + 20);
    EXPECT_EQ(piece->data.begin, piece->message.begin + offset);
    EXPECT_EQ(piece->data.size, size);
    offset += size;
  }
  EXPECT_FALSE(queue.Next().has_value());
  EXPECT_FALSE(queue.empty()) << "nobody has said that it came";
  ASSERT_TRUE(queue.Acknowledge(1).ok());
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueue, KeepsReceiptsInTheOrderOfDeparture) {
  SendQueue queue(100);
  std::vector<std::weak_ptr<void>> receipts(5);
  for (const uint32_t step : {1, 2, 3, 4}) {
    Outgoing message(Pattern(1, 1));
    message.receipt = std::make_shared<Receipt>();
    receipts[step] = message.receipt;
    queue.Push(Step(step), std::move(message));
  }
  for (const uint32_t step : {3, 1, 2}) {
    ASSERT_TRUE(queue.Grant(Step(step), Credit::kAtOnce).ok());
    ASSERT_TRUE(queue.Next().has_value());
  }
  ASSERT_TRUE(queue.Acknowledge(2).ok());
  EXPECT_TRUE(receipts[3].expired());
  EXPECT_TRUE(receipts[1].expired());
  EXPECT_FALSE(receipts[2].expired());
  const auto why = [&](uint64_t received) {
    return std::string(queue.Acknowledge(received).message());
  };
  EXPECT_EQ(why(2), "acknowledged 2 messages, but was sent 3 and had acknowledged 2");
  EXPECT_EQ(why(4), "acknowledged 4 messages, but was sent 3 and had acknowledged 2");
  EXPECT_EQ(why(~uint64_t{0}),
            "acknowledged 18446744073709551615 messages, but was sent 3 and had "
            "acknowledged 2");
  EXPECT_FALSE(receipts[2].expired());
  ASSERT_TRUE(queue.Acknowledge(3).ok());
  EXPECT_TRUE(receipts[2].expired());
}

TEST(SendQueue, AMessageOfWhichHalfHasLeftIsNotReceived) {
  SendQueue queue(4);
  queue.Push(Step(1), Pattern(2, 1));
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Next().has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(queue.Acknowledge(1)));
  ASSERT_TRUE(queue.Next().has_value());
  EXPECT_TRUE(queue.Acknowledge(1).ok());
}

// Its receiver counts what has come.
TEST(SendQueue, AMessageInTurnLeavesInSixteenths) {
  SendQueue queue(1 << 20);
  uint64_t sent = 0;
  // A sixteenth is a whole number of cache lines.
  for (const auto& [size, chunk] :
       {std::pair(16 * 8000, 8000), std::pair(16 * 8000 + 1, 8064), std::pair(20000, 4096),
        std::pair(101, 101), std::pair(20 << 20, 1 << 20)}) {
    ASSERT_TRUE(queue.Grant(Step(1), Credit::kInTurn).ok());
    queue.Push(Step(1), SharedBytes{nullptr, nullptr, size});
    for (int64_t left = size; left > 0;) {
      const auto piece = queue.Next();
      ASSERT_TRUE(piece.has_value()) << size;
      EXPECT_EQ(piece->data.size, std::min<int64_t>(left, chunk)) << size;
      left -= piece->data.size;
    }
    ASSERT_TRUE(queue.Acknowledge(++sent).ok());
    EXPECT_TRUE(queue.empty());
  }
}

TEST(SendQueue, TheNoteGoesWithTheLastPiece) {
  SendQueue queue(4);
  Outgoing message(Pattern(2, 1));
  message.note = {.weight = 0.5, .clock = 3};
  queue.Push(Step(1), message);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  EXPECT_EQ(queue.Next()->header.note, Note{});
  EXPECT_EQ(queue.Next()->header.note, message.note);
}

TEST(SendQueue, GoesByCreditNotByOrder) {
  SendQueue queue(100);
  for (const uint32_t step : {1, 2, 3}) queue.Push(Step(step), Pattern(1, 1));
  ASSERT_TRUE(queue.Grant(Step(3), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Grant(Step(4), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  queue.Push(Step(4), Pattern(1, 1));
  for (const uint32_t step : {3, 1, 4}) EXPECT_EQ(queue.Next()->header.tag, Step(step));
  EXPECT_FALSE(queue.Next().has_value());
  EXPECT_FALSE(queue.empty());
}

TEST(SendQueue, AnEmptyMessageIsOnePiece) {
  SendQueue queue(100);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  queue.Push(Step(1), SharedSlice{});
  const auto piece = queue.Next();
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->header.size, 0);
  EXPECT_TRUE(piece->header.last());
}

// Notices, as "offer 3" and "withdrawn 4".
std::vector<std::string> Notices(SendQueue* queue) {
  std::vector<std::string> notices;
  while (const std::optional<Notice> notice = queue->NextNotice()) {
    const auto* offer = std::get_if<Offer>(&*notice);
    notices.push_back(offer != nullptr
                          ? absl::StrCat("offer ", offer->tag.step)
                          : absl::StrCat("withdrawn ", std::get<Withdrawn>(*notice).tag.step));
  }
  return notices;
}

Outgoing Offered(int64_t elements) {
  Outgoing message(Pattern(elements, 1));
  message.offered = true;
  return message;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SendQueue, SaysWhatItOffers) {
  SendQueue queue(100);
  Outgoing message = Offered(5);
  message.note = {.weight = 0.5, .clock = 3};
  queue.Push(Step(1), message);
  queue.Push(Step(2), Pattern(1, 1));
  const std::optional<Notice> notice = queue.NextNotice();
  ASSERT_TRUE(notice.has_value());
  const auto& offer = std::get<Offer>(*notice);
  EXPECT_EQ(offer.tag, Step(1));
  EXPECT_EQ(offer.bytes, 20);
  EXPECT_EQ(offer.note, message.note);
  EXPECT_FALSE(queue.NextNotice().has_value()) << "the other one is foreseen";
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  EXPECT_EQ(queue.Next()->header.tag, Step(1));
}

TEST(SendQueue, OffersNothingThatHasCredit) {
  SendQueue queue(100);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  queue.Push(Step(1), Offered(1));
  queue.Push(Step(2), Offered(1));
  ASSERT_TRUE(queue.Grant(Step(2), Credit::kAtOnce).ok());
  EXPECT_THAT(Notices(&queue), IsEmpty()) << "the credit came before the offer went";
  EXPECT_EQ(queue.Next()->header.tag, Step(1));
  EXPECT_EQ(queue.Next()->header.tag, Step(2));
}

TEST(SendQueue, WhatIsDeclinedEndsWithItsReceipt) {
  SendQueue queue(100);
  Outgoing message = Offered(1);
  const auto receipt = std::make_shared<Receipt>();
  message.receipt = receipt;
  queue.Push(Step(1), std::move(message));
  EXPECT_EQ(queue.Decline(Step(1)).message(),
            "declined channel 0, index 1, step 1, which it is not offered")
      << "the offer has not gone";
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 1"));
  ASSERT_TRUE(queue.Decline(Step(1)).ok());
  EXPECT_TRUE(receipt->declined());
  EXPECT_EQ(receipt.use_count(), 1) << "the test's own";
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.Admits(Step(1)).ok()) << "its tag is free";
}

TEST(SendQueue, OnlyWhatIsOfferedCanBeDeclined) {
  SendQueue queue(100);
  queue.Push(Step(1), Pattern(1, 1));
  queue.Push(Step(2), Offered(1));
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 2"));
  ASSERT_TRUE(queue.Grant(Step(2), Credit::kAtOnce).ok());
  for (const uint32_t step : {1, 2, 3}) {
    EXPECT_TRUE(absl::IsInvalidArgument(queue.Decline(Step(step)))) << step;
  }
}

TEST(SendQueue, ReturnsACreditThatNothingHasUsed) {
  SendQueue queue(100);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Withdraw(Step(1)).ok());
  queue.Push(Step(1), Offered(1));
  EXPECT_FALSE(queue.Next().has_value()) << "its credit is gone";
  EXPECT_THAT(Notices(&queue), ElementsAre("withdrawn 1", "offer 1")) << "in this order";
}

TEST(SendQueue, KeepsACreditThatAMessageHasUsed) {
  SendQueue queue(100);
  queue.Push(Step(1), Offered(1));
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Withdraw(Step(1)).ok());
  EXPECT_THAT(Notices(&queue), IsEmpty());
  EXPECT_EQ(queue.Next()->header.tag, Step(1));
  ASSERT_TRUE(queue.Withdraw(Step(1)).ok()) << "the message was on its way";
  EXPECT_THAT(Notices(&queue), IsEmpty());
}

// Five messages of three pieces, of which so many have left.
SendQueue Leaving(int pieces) {
  SendQueue queue(4);
  for (const uint32_t step : {1, 2, 3, 4, 5}) {
    queue.Push(Step(step), Pattern(3, 1));
    EXPECT_TRUE(queue.Grant(Step(step), Credit::kAtOnce).ok());
  }
  for (int i = 0; i < pieces; ++i) EXPECT_TRUE(queue.Next().has_value());
  return queue;
}

TEST(SendQueue, GoesOnWhereTheReceiverSaysThatItWas) {
  SendQueue queue = Leaving(10);  // three whole, and a part of the fourth
  ASSERT_TRUE(queue.Acknowledge(1).ok());
  ASSERT_TRUE(queue.Resume({.received = 2, .partial_bytes = 8, .partial = Step(3)}).ok());
  const auto rest = queue.Next();
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->header.tag, Step(3));
  EXPECT_EQ(rest->header.offset, 8);
  EXPECT_TRUE(rest->header.last());
  EXPECT_FALSE(queue.Next().has_value()) << "credits are void";
  for (const uint32_t step : {4, 5}) {
    ASSERT_TRUE(queue.Grant(Step(step), Credit::kAtOnce).ok());
    for (const int64_t offset : {0, 4, 8}) {
      const auto piece = queue.Next();
      ASSERT_TRUE(piece.has_value());
      EXPECT_EQ(piece->header.tag, Step(step));
      EXPECT_EQ(piece->header.offset, offset);
    }
  }
  ASSERT_TRUE(queue.Acknowledge(5).ok());
  EXPECT_TRUE(queue.empty());
}

TEST(SendQueue, KeepsTheMemoryOfWhatMayHaveToLeaveAgain) {
  SendQueue queue(100);
  const SharedSlice memory = Pattern(3, 1);
  queue.Push(Step(1), memory);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Next().has_value());
  EXPECT_EQ(memory.owner.use_count(), 2);
  ASSERT_TRUE(queue.Acknowledge(1).ok());
  EXPECT_EQ(memory.owner.use_count(), 1);
}

TEST(SendQueue, OffersAgainWhatWasNotHeardAndEndsWhatWasDeclined) {
  SendQueue queue(100);
  const auto receipt = std::make_shared<Receipt>();
  for (const uint32_t step : {1, 2, 3}) {
    Outgoing message = Offered(1);
    if (step == 1) message.receipt = receipt;
    queue.Push(Step(step), std::move(message));
  }
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 1", "offer 2", "offer 3"));
  queue.Push(Step(4), Offered(1));
  ASSERT_TRUE(queue.Resume({.offers = 2, .open_offers = {2}}).ok());
  EXPECT_TRUE(receipt->declined());
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 3", "offer 4"));
  EXPECT_TRUE(queue.Admits(Step(1)).ok()) << "its tag is free";
  ASSERT_TRUE(queue.Decline(Step(2)).ok()) << "it still waits";
}

// Its credit came before the offer went, and is void.
TEST(SendQueue, OffersWhatNeededNoOfferBefore) {
  SendQueue queue(100);
  queue.Push(Step(1), Offered(1));
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Next().has_value());
  ASSERT_TRUE(queue.Resume({}).ok());
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 1"));
}

TEST(SendQueue, DisbelievesAReceiverThatCannotBeThere) {
  const auto why = [](const ResumePoint& point) {
    SendQueue queue = Leaving(4);  // one whole, and a part of the second
    const absl::Status status = queue.Resume(point);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(why({.received = 2}), HasSubstr("says that it has 2 messages, but was sent 1"));
  EXPECT_THAT(why({.received = ~uint64_t{0}}), HasSubstr("but was sent 1"));
  for (const ResumePoint& part :
       {ResumePoint{.received = 1, .partial_bytes = 4, .partial = Step(3)},     // not its turn
        ResumePoint{.received = 1, .partial_bytes = 8, .partial = Step(2)},     // not sent so far
        ResumePoint{.received = 1, .partial_bytes = -4, .partial = Step(2)},    //
        ResumePoint{.received = 0, .partial_bytes = 12, .partial = Step(1)},    // all of it
        ResumePoint{.received = 1, .partial_bytes = 4, .partial = Step(9)}}) {  // unknown
    EXPECT_THAT(why(part), HasSubstr("which it was not sent"));
  }
  EXPECT_THAT(why({.offers = 1}), HasSubstr("says that it was offered 1 messages, of 0"));
  EXPECT_THAT(why({.offers = 0, .open_offers = {7}}),
              HasSubstr("says that 1 offers are open, of which 0 are"));
  SendQueue offering(100);  // one of two waits for its turn to be offered
  for (const uint32_t step : {1, 2}) offering.Push(Step(step), Offered(1));
  ASSERT_TRUE(offering.NextNotice().has_value());
  for (const ResumePoint& open : {ResumePoint{.open_offers = {0}}, ResumePoint{.open_offers = {1}},
                                  ResumePoint{.offers = 1, .open_offers = {1, 0}},
                                  ResumePoint{.offers = 1, .open_offers = {1, 1}}}) {
    EXPECT_THAT(std::string(offering.Resume(open).message()), HasSubstr("offers are open"));
  }
  SendQueue behind = Leaving(6);
  ASSERT_TRUE(behind.Acknowledge(2).ok());
  EXPECT_THAT(std::string(behind.Resume({.received = 1}).message()),
              HasSubstr("says that it has 1 messages, but was sent 2 and had acknowledged 2"));
}

TEST(SendQueue, DisbelievesAReceiverThatDeclinesWhatItGranted) {
  SendQueue queue(100);
  queue.Push(Step(1), Offered(1));
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 1"));
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  EXPECT_THAT(std::string(queue.Resume({.offers = 1}).message()),
              ::testing::HasSubstr("which it had granted"));
}

// Neither what waits for its credit again, nor what the sink was told has left.
TEST(SendQueue, DisbelievesAReceiverThatDeclinesWhatItGrantedOnAConnectionBefore) {
  for (const bool left : {false, true}) {
    SCOPED_TRACE(left);
    SendQueue queue(100);
    queue.Push(Step(1), Offered(1));
    EXPECT_THAT(Notices(&queue), ElementsAre("offer 1"));
    ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
    if (left) {
      EXPECT_TRUE(queue.Next().has_value());
    }
    ASSERT_TRUE(queue.Resume({.offers = 1, .open_offers = {1}}).ok());
    EXPECT_EQ(queue.Decline(Step(1)).message(),
              "declined channel 0, index 1, step 1, which it had granted");
    EXPECT_THAT(std::string(queue.Resume({.offers = 1}).message()),
                ::testing::HasSubstr("which it had granted"));
    ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
    EXPECT_TRUE(queue.Next().has_value()) << "nothing was done with it";
  }
}

// The credit came before the message, which is offered only after a break.
TEST(SendQueue, ACreditAheadIsAGrantToo) {
  SendQueue queue(100);
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  queue.Push(Step(1), Offered(1));
  ASSERT_TRUE(queue.Resume({}).ok());
  EXPECT_THAT(Notices(&queue), ElementsAre("offer 1"));
  EXPECT_TRUE(absl::IsInvalidArgument(queue.Decline(Step(1))));
}

TEST(SendQueue, BoundsWhatItHasToSay) {
  SendQueue queue(100);
  for (uint32_t i = 0; i < Transport::kMaxQueued; ++i) {
    ASSERT_TRUE(queue.Grant(Step(i), Credit::kAtOnce).ok());
    ASSERT_TRUE(queue.Withdraw(Step(i)).ok());
  }
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  const absl::Status more = queue.Withdraw(Step(1));
  EXPECT_TRUE(absl::IsInvalidArgument(more));
  EXPECT_EQ(more.message(), "withdrew more than 1024 posts ahead");
}

TEST(SendQueue, BoundsMessagesAndCredits) {
  SendQueue queue(100);
  for (uint32_t i = 0; i < Transport::kMaxQueued; ++i) {
    ASSERT_TRUE(queue.Admits(Step(i)).ok());
    queue.Push(Step(i), SharedSlice{});
    ASSERT_TRUE(queue.Grant(Step(10000 + i), Credit::kAtOnce).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Admits(Step(5000))));
  const absl::Status grant = queue.Grant(Step(5000), Credit::kAtOnce);
  EXPECT_TRUE(absl::IsInvalidArgument(grant));
  EXPECT_EQ(grant.message(), "granted more than 1024 messages ahead");
}

TEST(SendQueue, BoundsWhatIsNotAcknowledged) {
  SendQueue queue(100);
  for (uint32_t i = 0; i < Transport::kMaxQueued; ++i) {
    queue.Push(Step(i), SharedSlice{});
    ASSERT_TRUE(queue.Grant(Step(i), Credit::kAtOnce).ok());
    ASSERT_TRUE(queue.Next().has_value());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Admits(Step(5000))));
  ASSERT_TRUE(queue.Acknowledge(1).ok());
  EXPECT_TRUE(queue.Admits(Step(5000)).ok());
}

TEST(SendQueue, RefusesDoubles) {
  SendQueue queue(4);
  queue.Push(Step(1), Pattern(2, 1));
  EXPECT_TRUE(absl::IsAlreadyExists(queue.Admits(Step(1))));
  ASSERT_TRUE(queue.Grant(Step(1), Credit::kAtOnce).ok());
  ASSERT_TRUE(queue.Next().has_value());
  EXPECT_TRUE(absl::IsAlreadyExists(queue.Admits(Step(1))));  // half of it has left
  ASSERT_TRUE(queue.Next().has_value());
  EXPECT_TRUE(absl::IsAlreadyExists(queue.Admits(Step(1))));  // all of it, which may be lost
  ASSERT_TRUE(queue.Acknowledge(1).ok());
  EXPECT_TRUE(queue.Admits(Step(1)).ok());
  ASSERT_TRUE(queue.Grant(Step(2), Credit::kAtOnce).ok());
  EXPECT_EQ(queue.Grant(Step(2), Credit::kAtOnce).message(),
            "granted channel 0, index 1, step 2 twice");
}

}  // namespace
}  // namespace grapevine
