#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/transport/flow_control.h"
#include "node/transport/transport.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Tag kTag{.channel = 1, .index = 2, .step = 3};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ReceiveLedger, FillsABufferFromFrontToBack) {
  ReceiveLedger ledger;
  const SharedSlice buffer = Zeros(10);
  ASSERT_TRUE(ledger.Post(kTag, buffer).ok());
  const ChunkHeader first{.tag = kTag, .offset = 0, .size = 24, .total = 40};
  const auto landing = ledger.Accept(first);
  ASSERT_TRUE(landing.ok());
  EXPECT_EQ(landing->into, reinterpret_cast<std::byte*>(buffer.begin()));
  EXPECT_EQ(landing->crc32c, 0u);
  EXPECT_FALSE(*ledger.Landed(first, 17));
  const ChunkHeader second{.tag = kTag, .offset = 24, .size = 16, .total = 40, .crc32c = 18};
  const auto rest = ledger.Accept(second);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->into, reinterpret_cast<std::byte*>(buffer.begin() + 6));
  EXPECT_EQ(rest->crc32c, 17u);
  EXPECT_FALSE(ledger.empty());
  EXPECT_TRUE(*ledger.Landed(second, 18));
  EXPECT_TRUE(ledger.empty());
}

TEST(ReceiveLedger, ChunksOfSeveralMessagesMayAlternate) {
  ReceiveLedger ledger;
  const Tag other{.index = 9};
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  ASSERT_TRUE(ledger.Post(other, Zeros(2)).ok());
  const ChunkHeader a{.tag = kTag, .offset = 0, .size = 4, .total = 8};
  const ChunkHeader b{.tag = other, .offset = 0, .size = 4, .total = 8};
  EXPECT_FALSE(*ledger.Landed(a, 1));
  EXPECT_FALSE(*ledger.Landed(b, 2));
  EXPECT_EQ(ledger.Accept({.tag = kTag, .offset = 4, .size = 4, .total = 8})->crc32c, 1u);
  EXPECT_EQ(ledger.Accept({.tag = other, .offset = 4, .size = 4, .total = 8})->crc32c, 2u);
  EXPECT_EQ(ledger.Open(), (std::vector<Tag>{other, kTag}));
}

TEST(ReceiveLedger, ALandingOutlivesItsPost) {
  ReceiveLedger ledger;
  SharedSlice buffer = Zeros(1);
  const std::weak_ptr<float[]> memory = buffer.owner;
  ASSERT_TRUE(ledger.Post(kTag, std::move(buffer)).ok());
  {
    const auto landing = ledger.Accept({.tag = kTag, .size = 4, .total = 4});
    ledger.Clear();
    EXPECT_FALSE(memory.expired());
  }
  EXPECT_TRUE(memory.expired());
  EXPECT_TRUE(absl::IsCancelled(ledger.Landed({.tag = kTag, .size = 4, .total = 4}, 0).status()));
}

TEST(ReceiveLedger, NamesEveryViolation) {
  ReceiveLedger ledger;
  const ChunkHeader good{.tag = kTag, .offset = 0, .size = 40, .total = 40, .crc32c = 5};
  EXPECT_THAT(Message(ledger.Accept(good).status()), HasSubstr("nothing is posted for it"));
  ASSERT_TRUE(ledger.Post(kTag, Zeros(10)).ok());

  ChunkHeader bad = good;
  bad.tag.index = 3;
  EXPECT_THAT(Message(ledger.Accept(bad).status()),
              HasSubstr("sent channel 1, index 3, step 3 without a post; 1 posted for it, first "
                        "channel 1, index 2"));
  bad = good;
  bad.total = 44;
  EXPECT_THAT(Message(ledger.Accept(bad).status()), HasSubstr("with 44 bytes, expected 40"));
  bad = good;
  bad.offset = 4;
  EXPECT_THAT(Message(ledger.Accept(bad).status()), HasSubstr("from byte 4, expected byte 0"));
  for (const int64_t size : {int64_t{0}, int64_t{41}, int64_t{-1}, int64_t{1} << 62}) {
    bad = good;
    bad.size = size;
    EXPECT_THAT(Message(ledger.Accept(bad).status()), HasSubstr("of which 40 are missing"));
  }
  const absl::Status damaged = ledger.Landed(good, 6).status();
  EXPECT_TRUE(absl::IsDataLoss(damaged)) << damaged;
  EXPECT_THAT(Message(damaged), HasSubstr("CRC-32C 00000005, its bytes have 00000006"));
}

TEST(ReceiveLedger, ABufferMayTakeShorterMessages) {
  ReceiveLedger ledger;
  Incoming buffer(Zeros(10));
  buffer.least = 3;
  ASSERT_TRUE(ledger.Post(kTag, buffer).ok());
  for (const int64_t total : {2, 41}) {
    EXPECT_THAT(Message(ledger.Accept({.tag = kTag, .size = 2, .total = total}).status()),
                HasSubstr("bytes, expected 3 to 40"));
  }
  const ChunkHeader first{.tag = kTag, .offset = 0, .size = 5, .total = 7};
  ASSERT_TRUE(ledger.Accept(first).ok());
  EXPECT_FALSE(*ledger.Landed(first, 17));
  // Its length stands.
  EXPECT_THAT(Message(ledger.Accept({.tag = kTag, .offset = 5, .size = 1, .total = 6}).status()),
              HasSubstr("with 6 bytes, expected 7"));
  EXPECT_THAT(Message(ledger.Accept({.tag = kTag, .offset = 5, .size = 3, .total = 7}).status()),
              HasSubstr("of which 2 are missing"));
  const ChunkHeader last{.tag = kTag, .offset = 5, .size = 2, .total = 7, .crc32c = 18};
  ASSERT_TRUE(ledger.Accept(last).ok());
  EXPECT_TRUE(*ledger.Landed(last, 18));
}

TEST(ReceiveLedger, AnEmptyMessageIsOneEmptyChunk) {
  ReceiveLedger ledger;
  ASSERT_TRUE(ledger.Post(kTag, SharedSlice{}).ok());
  const ChunkHeader chunk{.tag = kTag, .crc32c = 0};
  ASSERT_TRUE(ledger.Accept(chunk).ok());
  EXPECT_TRUE(*ledger.Landed(chunk, 0));
}

TEST(ReceiveLedger, BoundsItsPosts) {
  ReceiveLedger ledger;
  for (uint32_t i = 0; i < Transport::kMaxQueued; ++i) {
    ASSERT_TRUE(ledger.Post({.step = i}, SharedSlice{}).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(ledger.Post(kTag, SharedSlice{})));
}

TEST(ReceiveLedger, RefusesATagTwice) {
  ReceiveLedger ledger;
  ASSERT_TRUE(ledger.Post(kTag, SharedSlice{}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(ledger.Post(kTag, SharedSlice{})));
}

TEST(ReceiveLedger, AnOfferIsNewsOnlyWithoutAPost) {
  ReceiveLedger ledger;
  EXPECT_TRUE(*ledger.Take({.tag = kTag, .bytes = 8}));
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  EXPECT_TRUE(absl::IsNotFound(ledger.Decline(kTag))) << "it is answered";
  const Tag other{.index = 9};
  ASSERT_TRUE(ledger.Post(other, Zeros(2)).ok());
  EXPECT_FALSE(*ledger.Take({.tag = other, .bytes = 8})) << "its credit is on the way";
}

TEST(ReceiveLedger, RefusesOffersThatCannotBe) {
  ReceiveLedger ledger;
  const Offer offer{.tag = kTag, .bytes = 8};
  const auto why = [&] { return Message(ledger.Take(offer).status()); };
  ASSERT_TRUE(ledger.Take(offer).ok());
  EXPECT_EQ(why(), "offered channel 1, index 2, step 3 twice");
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  EXPECT_EQ(why(), "offered channel 1, index 2, step 3 twice");
  ledger.Clear();
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  const ChunkHeader half{.tag = kTag, .offset = 0, .size = 4, .total = 8};
  EXPECT_FALSE(*ledger.Landed(half, 1));
  EXPECT_EQ(why(), "offered channel 1, index 2, step 3, of which it has sent a part");
}

TEST(ReceiveLedger, BoundsOffersAndRefusalsOfWhichThePeerDoesNotKnow) {
  ReceiveLedger ledger;
  for (uint32_t i = 0; i < Transport::kMaxQueued - 3; ++i) {
    ASSERT_TRUE(ledger.Take({.tag = {.step = i}}, 3).ok());
  }
  EXPECT_EQ(Message(ledger.Take({.tag = kTag}, 3).status()),
            "offered more than 1024 messages at a time");
  EXPECT_TRUE(ledger.Take({.tag = kTag}, 2).ok());
  ASSERT_TRUE(ledger.Decline(kTag).ok());
  EXPECT_TRUE(ledger.Take({.tag = kTag}, 2).ok()) << "there is room again";
}

TEST(ReceiveLedger, APostIsTakenBackUnlessItsMessageIsOnTheWay) {
  ReceiveLedger ledger;
  EXPECT_FALSE(ledger.Withdraw(kTag)) << "nothing is posted";
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  EXPECT_TRUE(ledger.Withdraw(kTag));
  EXPECT_FALSE(ledger.Withdraw(kTag)) << "twice";
  EXPECT_TRUE(ledger.withdrawn(kTag));
  EXPECT_TRUE(ledger.Return(kTag).ok());
  EXPECT_TRUE(ledger.empty());

  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  EXPECT_FALSE(*ledger.Landed({.tag = kTag, .offset = 0, .size = 4, .total = 8}, 1));
  EXPECT_FALSE(ledger.Withdraw(kTag)) << "half of it is here";
  const Tag offered{.index = 9};
  ASSERT_TRUE(ledger.Take({.tag = offered}).ok());
  ASSERT_TRUE(ledger.Post(offered, Zeros(2)).ok());
  EXPECT_FALSE(ledger.Withdraw(offered)) << "the peer has it ready";
}

TEST(ReceiveLedger, RefusesACreditThatItDidNotAskBack) {
  ReceiveLedger ledger;
  const auto why = [&] { return Message(ledger.Return(kTag).status()); };
  const std::string unasked =
      "returned the credit for channel 1, index 2, step 3, which was not withdrawn";
  EXPECT_EQ(why(), unasked);
  ASSERT_TRUE(ledger.Post(kTag, Zeros(2)).ok());
  EXPECT_EQ(why(), unasked);
  ASSERT_TRUE(ledger.Withdraw(kTag));
  EXPECT_FALSE(*ledger.Landed({.tag = kTag, .offset = 0, .size = 4, .total = 8}, 1));
  EXPECT_EQ(why(), "returned the credit for channel 1, index 2, step 3, which it has used");
}

}  // namespace
}  // namespace grapevine
