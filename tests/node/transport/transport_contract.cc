#include "tests/node/transport/transport_contract.h"

#include <algorithm>
#include <cstring>

#include "gmock/gmock.h"
#include "tests/node/transport/random_traffic.h"
#include "tests/testing/sightings.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Tag kTag{.channel = 1, .index = 5, .step = 2};

Tag Step(uint32_t step) { return {.channel = 0, .index = 9, .step = step}; }

// Sends `size` elements from 0 to 1 and checks that they arrive unchanged.
void ExpectDelivery(TransportNetwork& network, int64_t size, Tag tag) {
  const SharedSlice sent = Pattern(size, 1.5f);
  const SharedSlice buffer = Zeros(size);
  ASSERT_TRUE(network.transport(1).Post(0, tag, buffer).ok());
  ASSERT_TRUE(network.transport(0).Send(1, tag, sent).ok());
  ASSERT_TRUE(network.sink(1).AwaitReceived(0, tag)) << network.sink(1).failures();
  EXPECT_TRUE(SameBits(sent, buffer));
  EXPECT_TRUE(network.sink(0).AwaitSent(1, tag));
}

TEST_P(TransportContract, DeliversWhatWasPosted) {
  auto network = Make(2);
  ExpectDelivery(*network, 1000, kTag);
  EXPECT_EQ(network->sink(0).received(), 0);
  EXPECT_EQ(network->sink(1).sent(), 0);
}

TEST_P(TransportContract, DeliversWhenTheSendCameFirst) {
  auto network = Make(2);
  const SharedSlice sent = Pattern(777, 2);
  const SharedSlice buffer = Zeros(777);
  ASSERT_TRUE(network->transport(0).Send(1, kTag, sent).ok());
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_TRUE(SameBits(sent, buffer));
}

// A receiver that uses the memory again must not find it held.
TEST_P(TransportContract, HoldsTheBufferNoMoreOnceItIsReported) {
  auto network = Make(2);
  const SharedSlice buffer = Zeros(1000);
  int64_t holders = 0;
  network->sink(1).on_received = [&] { holders = buffer.owner.use_count(); };
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, Pattern(1000, 2)).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_EQ(holders, 1) << "the test's own";
}

TEST_P(TransportContract, ASendEndsOnceItsReceiverHasTheMessage) {
  auto network = Make(2);
  int ended_early = 0;
  network->sink(1).on_received = [&] {
    ended_early = std::max(ended_early, network->sink(0).sent() - network->sink(1).received());
  };
  constexpr uint32_t kMessages = 30;
  for (uint32_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(network->transport(1).Post(0, Step(i), Zeros(1000)).ok());
    ASSERT_TRUE(network->transport(0).Send(1, Step(i), Pattern(1000, 1)).ok());
    ASSERT_TRUE(network->sink(0).AwaitSent(1, Step(i)));
    EXPECT_EQ(network->sink(0).left(), network->sink(0).sent()) << "it leaves first";
    EXPECT_EQ(network->sink(1).received(), static_cast<int>(i) + 1);
  }
  EXPECT_EQ(ended_early, 0);
}

TEST_P(TransportContract, ASendWithoutAPlaceDoesNotEnd) {
  auto network = Make(2);
  ASSERT_TRUE(network->transport(0).Send(1, kTag, Pattern(1000, 1)).ok());
  ExpectDelivery(*network, 1000, Step(1));
  EXPECT_EQ(network->sink(0).sent(), 1) << "the other one";
  EXPECT_EQ(network->sink(0).left(), 1);
}

// Half of it is there when the receiver goes: its sender hears that, and no more.
TEST_P(TransportContract, ASendToAPeerThatIsLostDoesNotEnd) {
  auto network = Make(2);
  ExpectDelivery(*network, 10, Step(1));
  const SharedSlice growing = Pattern(600000, 1);
  const auto written = std::make_shared<Watermark>();
  ASSERT_TRUE(network->transport(1).Post(0, kTag, Zeros(600000)).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, {growing, written}).ok());
  written->Raise(1 << 20);
  network->transport(1).Shutdown();
  const absl::Status failure = network->sink(0).AwaitFailure(1);
  EXPECT_TRUE(absl::IsUnavailable(failure)) << failure;
  network->transport(0).Shutdown();
  EXPECT_EQ(network->sink(0).left(), 1) << "the first";
  EXPECT_EQ(network->sink(0).sent(), 1);
}

// Whether the peer is alive or not: what it was to be sent ends, what was posted for it is free.
TEST_P(TransportContract, APeerThatIsGivenUpIsRidOfWhatWasForIt) {
  auto network = Make(3);
  ExpectDelivery(*network, 10, Step(1));
  const SharedSlice unposted = Pattern(1000, 1);
  std::weak_ptr<float[]> held = unposted.owner;
  ASSERT_TRUE(network->transport(0).Send(1, kTag, unposted).ok());
  ASSERT_TRUE(network->transport(0).Post(1, kTag, Zeros(1000)).ok());
  network->transport(0).GiveUp(1, absl::AbortedError("rank 1 is out of the run"));
  EXPECT_TRUE(network->sink(0).AwaitDeclined(1, kTag));
  EXPECT_EQ(network->sink(0).sent(), 1) << "before";
  EXPECT_EQ(network->sink(0).lost(), 0) << "whoever gives a peer up knows what it has posted";
  EXPECT_EQ(LostPeer(network->transport(0).Send(1, Step(2), Pattern(10, 1))), 1);
  EXPECT_EQ(LostPeer(network->transport(0).Post(1, Step(2), Zeros(10))), 1);
  // Others are not touched by it.
  ASSERT_TRUE(network->transport(2).Post(0, kTag, Zeros(1000)).ok());
  ASSERT_TRUE(network->transport(0).Send(2, kTag, Pattern(1000, 3)).ok());
  EXPECT_TRUE(network->sink(0).AwaitSent(2, kTag));
}

// What came whole is acknowledged, also by a receiver that leaves at once.
TEST_P(TransportContract, AReceiverThatLeavesSaysWhatHasCome) {
  auto network = Make(2);
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(network->transport(1).Post(0, Step(i), Zeros(1000)).ok());
    ASSERT_TRUE(network->transport(0).Send(1, Step(i), Pattern(1000, 1)).ok());
  }
  for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(i)));
  network->transport(1).Shutdown();
  for (uint32_t i = 0; i < 20; ++i) EXPECT_TRUE(network->sink(0).AwaitSent(1, Step(i)));
  EXPECT_EQ(network->sink(0).failures(), 0);
}

TEST_P(TransportContract, DeliversLargeTinyAndEmptyParts) {
  auto network = Make(2);
  const int64_t sizes[] = {(int64_t{8} << 20) / 4 + 3, 1, 0, 2, 262144, 262145};
  uint32_t step = 0;
  for (const int64_t size : sizes) ExpectDelivery(*network, size, Step(++step));
}

// The sender writes the message while it travels, for two receivers.
TEST_P(TransportContract, SendsWhatIsThereAndTheRestWhenItComes) {
  auto network = Make(3);
  constexpr int64_t kSize = 600000;  // more than two chunks
  const SharedSlice whole = Pattern(kSize, 4);
  const SharedSlice growing = Zeros(kSize);
  const auto written = std::make_shared<Watermark>();
  const SharedSlice buffers[] = {Zeros(kSize), Zeros(kSize)};
  for (const Rank to : {1, 2}) {
    ASSERT_TRUE(network->transport(to).Post(0, kTag, buffers[to - 1]).ok());
    ASSERT_TRUE(network->transport(0).Send(to, kTag, {growing, written}).ok());
  }
  int64_t there = 0;
  for (const int64_t level : {int64_t{1}, int64_t{300000}, int64_t{300001}, kSize}) {
    std::copy(whole.begin() + there, whole.begin() + level, growing.begin() + there);
    there = level;
    EXPECT_EQ(network->sink(1).received(), 0) << "before it was whole";
    written->Raise(level * int64_t{sizeof(float)});
  }
  for (const Rank to : {1, 2}) {
    ASSERT_TRUE(network->sink(to).AwaitReceived(0, kTag)) << network->sink(to).failures();
    EXPECT_TRUE(SameBits(whole, buffers[to - 1]));
  }
}

TEST_P(TransportContract, TellsOfEveryByteInOrderBeforeTheWhole) {
  auto network = Make(2);
  constexpr int64_t kSize = 600000;
  const SharedSlice sent = Pattern(kSize, 5), buffer = Zeros(kSize), copy = Zeros(kSize);
  int64_t landed = 0;
  int64_t landed_when_received = 0;
  network->sink(1).on_received = [&] { landed_when_received = landed; };
  const auto on_landed = [&](int64_t offset, int64_t size) {
    EXPECT_EQ(offset, landed);
    auto* const from = reinterpret_cast<std::byte*>(buffer.begin());
    auto* const to = reinterpret_cast<std::byte*>(copy.begin());
    std::copy(from + offset, from + offset + size, to + offset);
    landed += size;
  };
  ASSERT_TRUE(network->transport(1).Post(0, kTag, {buffer, on_landed}).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, sent).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_EQ(landed_when_received, sent.bytes());
  EXPECT_TRUE(SameBits(sent, copy));
}

TEST_P(TransportContract, TakesTheNormOfEveryByteBeforeTheWhole) {
  auto network = Make(2);
  constexpr int64_t kSize = 600000;
  const SharedSlice sent = Pattern(kSize, 5);
  Incoming buffer(Zeros(kSize));
  buffer.norm = std::make_shared<StreamedNorm>(sent.bytes());
  StreamedNorm expected(sent.bytes());
  expected.Add(reinterpret_cast<const std::byte*>(sent.begin()), sent.bytes());
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, sent).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_EQ(buffer.norm->squared(), expected.squared());
}

TEST_P(TransportContract, ANoteTravelsBesideAMessage) {
  auto network = Make(2);
  Outgoing message(Pattern(10, 1));
  message.note = {.weight = 0.375, .clock = -8};
  ASSERT_TRUE(network->transport(1).Post(0, kTag, Zeros(10)).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, message).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag)) << network->sink(1).failures();
  EXPECT_EQ(network->sink(1).last_received().note, message.note);
  ExpectDelivery(*network, 10, Step(1));
  EXPECT_EQ(network->sink(1).last_received().note, Note{});
}

// As from an encoding whose length is known once it is done: any number of bytes.
TEST_P(TransportContract, SaysHowManyBytesCameWhereTheBufferTakesFewer) {
  auto network = Make(2);
  const SharedSlice sent = Pattern(600000, 1), buffer = Zeros(600000);
  uint32_t step = 0;
  for (const int64_t size : {int64_t{1}, int64_t{37}, int64_t{1234567}, sent.bytes()}) {
    Incoming into(buffer);
    into.least = 1;
    ASSERT_TRUE(network->transport(1).Post(0, Step(++step), into).ok());
    ASSERT_TRUE(network->transport(0).Send(1, Step(step), SharedBytes(sent).Within(0, size)).ok());
    ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(step))) << network->sink(1).failures();
    EXPECT_EQ(network->sink(1).last_received().bytes, size);
    EXPECT_EQ(std::memcmp(buffer.begin(), sent.begin(), static_cast<size_t>(size)), 0);
  }
}

TEST_P(TransportContract, DeliversThePartThatTheSliceNames) {
  auto network = Make(2);
  SharedSlice whole = Pattern(100, 3);
  SharedSlice buffer = Zeros(100);
  ASSERT_TRUE(network->transport(1).Post(0, kTag, SharedSlice{buffer.owner, 50, 20}).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, SharedSlice{whole.owner, 10, 20}).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_TRUE(SameBits({whole.owner, 10, 20}, {buffer.owner, 50, 20}));
  EXPECT_TRUE(SameBits({buffer.owner, 0, 50}, Zeros(50)));
  EXPECT_TRUE(SameBits({buffer.owner, 70, 30}, Zeros(30)));
}

TEST_P(TransportContract, DeliversManyTagsInAnyOrderBothWays) {
  auto network = Make(2);
  constexpr uint32_t kMessages = 50;
  std::vector<SharedSlice> buffers;
  for (uint32_t i = 0; i < kMessages; ++i) buffers.push_back(Zeros(5000));
  for (Rank self : {0, 1}) {
    for (uint32_t i = 0; i < kMessages; i += 2) {
      SharedSlice half{buffers[i + static_cast<uint32_t>(self)].owner, 0, 5000};
      ASSERT_TRUE(network->transport(self).Post(1 - self, Step(i), half).ok());
    }
  }
  for (Rank self : {0, 1}) {
    for (uint32_t i = kMessages; i >= 2; i -= 2) {
      const SharedSlice sent = Pattern(5000, static_cast<float>(i - 2));
      ASSERT_TRUE(network->transport(self).Send(1 - self, Step(i - 2), sent).ok());
    }
  }
  for (Rank self : {0, 1}) {
    for (uint32_t i = 0; i < kMessages; i += 2) {
      ASSERT_TRUE(network->sink(self).AwaitReceived(1 - self, Step(i)));
      ASSERT_TRUE(network->sink(1 - self).AwaitSent(self, Step(i)));
      EXPECT_TRUE(
          SameBits(buffers[i + static_cast<uint32_t>(self)], Pattern(5000, static_cast<float>(i))));
    }
  }
}

TEST_P(TransportContract, HoldsBackWhatIsNotPosted) {
  auto network = Make(2);
  const SharedSlice buffer = Zeros(64);
  ASSERT_TRUE(network->transport(0).Send(1, Step(1), Pattern(64, 1)).ok());
  ASSERT_TRUE(network->transport(0).Send(1, Step(2), Pattern(64, 2)).ok());
  // The second overtakes the first, which has no buffer yet.
  ASSERT_TRUE(network->transport(1).Post(0, Step(2), buffer).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(2)));
  EXPECT_TRUE(SameBits(buffer, Pattern(64, 2)));
  EXPECT_FALSE(network->sink(1).HasReceived(0, Step(1)));
  EXPECT_EQ(network->transport(1).counters().messages_received, 1);
  ASSERT_TRUE(network->transport(1).Post(0, Step(1), buffer).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(1)));
  EXPECT_TRUE(SameBits(buffer, Pattern(64, 1)));
}

// Credits in turn go when earlier rounds have come or nearly so: all of them in time.
TEST_P(TransportContract, DeliversWhatIsPostedInTurn) {
  auto network = Make(3);
  constexpr int64_t kSize = 100003;
  constexpr Round kRounds = 6;
  std::vector<SharedSlice> buffers;
  for (Round round = 0; round < kRounds; ++round) {
    const Rank from = static_cast<Rank>(round % 2);
    buffers.push_back(Zeros(kSize));
    Incoming buffer(buffers.back());
    buffer.credit = Credit::kInTurn;
    ASSERT_TRUE(network->transport(2).Post(from, {.index = round}, buffer).ok());
  }
  // The last ones first.
  for (Round round = kRounds; round-- > 0;) {
    const SharedSlice sent = Pattern(kSize, static_cast<float>(round));
    ASSERT_TRUE(
        network->transport(static_cast<Rank>(round % 2)).Send(2, {.index = round}, sent).ok());
  }
  for (Round round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(network->sink(2).AwaitReceived(static_cast<Rank>(round % 2), {.index = round}));
    EXPECT_TRUE(SameBits(buffers[round], Pattern(kSize, static_cast<float>(round)))) << round;
  }
}

Outgoing Offered(SharedSlice bytes) {
  Outgoing message(std::move(bytes));
  message.offered = true;
  return message;
}

TEST_P(TransportContract, AnOfferThatIsTakenArrives) {
  auto network = Make(2);
  const SharedSlice sent = Pattern(1000, 2), buffer = Zeros(1000);
  Outgoing message = Offered(sent);
  message.note = {.weight = 0.5, .clock = 9};
  network->transport(1).Dial(std::vector<Rank>{0});
  ASSERT_TRUE(network->transport(0).Send(1, kTag, message).ok());
  ASSERT_TRUE(network->sink(1).AwaitOffered(0, kTag)) << network->sink(1).failures();
  EXPECT_EQ(network->sink(1).last_offered().bytes, 4000);
  EXPECT_EQ(network->sink(1).last_offered().note, message.note);
  EXPECT_EQ(network->sink(0).left(), 0) << "nothing moves without a buffer";
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag)) << network->sink(1).failures();
  EXPECT_TRUE(SameBits(sent, buffer));
  EXPECT_EQ(network->sink(1).last_received().note, message.note);
  EXPECT_TRUE(network->sink(0).AwaitSent(1, kTag));
  EXPECT_EQ(network->sink(0).left(), 1);
  EXPECT_EQ(network->sink(0).declined(), 0);
  EXPECT_TRUE(absl::IsNotFound(network->transport(1).Decline(0, kTag))) << "it is answered";
}

TEST_P(TransportContract, AnOfferThatIsDeclinedEndsWithoutLeaving) {
  auto network = Make(2);
  for (size_t turn = 1; turn <= 3; ++turn) {
    SharedSlice sent = Pattern(1000, 1);
    const std::weak_ptr<float[]> memory = sent.owner;
    ASSERT_TRUE(network->transport(0).Send(1, kTag, Offered(std::move(sent))).ok());
    network->transport(1).Dial(std::vector<Rank>{0});  // the offer may be there before
    ASSERT_TRUE(network->sink(1).AwaitOffered(0, kTag, turn)) << network->sink(1).failures();
    ASSERT_TRUE(network->transport(1).Decline(0, kTag).ok());
    ASSERT_TRUE(network->sink(0).AwaitDeclined(1, kTag, turn)) << network->sink(0).failures();
    EXPECT_TRUE(memory.expired());
  }
  EXPECT_EQ(network->sink(0).left(), 0);
  EXPECT_EQ(network->sink(0).sent(), 0);
  // Its tag is free.
  ExpectDelivery(*network, 1000, kTag);
  EXPECT_EQ(network->transport(0).counters().messages_sent, 1);
}

TEST_P(TransportContract, AnOfferThatMeetsItsPostIsNoNews) {
  auto network = Make(2);
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(network->transport(1).Post(0, Step(i), Zeros(1000)).ok());
    ASSERT_TRUE(network->transport(0).Send(1, Step(i), Offered(Pattern(1000, 1))).ok());
  }
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(i))) << network->sink(1).failures();
    ASSERT_TRUE(network->sink(0).AwaitSent(1, Step(i)));
  }
  EXPECT_EQ(network->sink(1).offered(), 0);
}

TEST_P(TransportContract, AWithdrawnPostIsLost) {
  auto network = Make(2);
  uint32_t step = 100;
  for (const Credit credit : {Credit::kAtOnce, Credit::kInTurn}) {
    const SharedSlice buffer = Zeros(1000);
    Incoming posted(buffer);
    posted.credit = credit;
    const Tag tag = Step(static_cast<uint32_t>(credit));
    ASSERT_TRUE(network->transport(1).Post(0, tag, std::move(posted)).ok());
    ExpectDelivery(*network, 10, Step(++step));  // the credit has gone out
    ASSERT_TRUE(network->transport(1).Withdraw(0, tag).ok());
    ASSERT_TRUE(network->sink(1).AwaitLost(0, tag)) << network->sink(1).failures();
    EXPECT_EQ(buffer.owner.use_count(), 1) << "the test's own";
    // What is sent then waits for another post.
    ASSERT_TRUE(network->transport(0).Send(1, tag, Pattern(1000, 1)).ok());
    ExpectDelivery(*network, 10, Step(++step));
    EXPECT_FALSE(network->sink(1).HasReceived(0, tag));
    ASSERT_TRUE(network->transport(1).Post(0, tag, buffer).ok());
    ASSERT_TRUE(network->sink(1).AwaitReceived(0, tag)) << network->sink(1).failures();
    EXPECT_TRUE(SameBits(buffer, Pattern(1000, 1)));
  }
  EXPECT_EQ(network->sink(1).lost(), 2);
}

TEST_P(TransportContract, APostOfWhichNobodyKnowsIsLostAtOnce) {
  auto network = Make(2);
  ASSERT_TRUE(network->transport(1).Post(0, kTag, Zeros(10)).ok());
  ASSERT_TRUE(network->transport(1).Withdraw(0, kTag).ok());
  EXPECT_EQ(network->sink(1).lost(), 1) << "rank 0 is not connected";
  ASSERT_TRUE(network->transport(1).Withdraw(0, kTag).ok()) << "nothing is posted";
  EXPECT_EQ(network->sink(1).lost(), 1);
}

TEST_P(TransportContract, ThePostThatTakesAnOfferIsFilledThoughItIsWithdrawn) {
  auto network = Make(2);
  network->transport(1).Dial(std::vector<Rank>{0});
  ASSERT_TRUE(network->transport(0).Send(1, kTag, Offered(Pattern(1000, 1))).ok());
  ASSERT_TRUE(network->sink(1).AwaitOffered(0, kTag)) << network->sink(1).failures();
  const SharedSlice buffer = Zeros(1000);
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->transport(1).Withdraw(0, kTag).ok());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag)) << network->sink(1).failures();
  EXPECT_TRUE(SameBits(buffer, Pattern(1000, 1)));
  EXPECT_EQ(network->sink(1).lost(), 0);
}

// A send that its receiver foresees has nothing to decline.
TEST_P(TransportContract, DeclinesOnlyWhatIsOffered) {
  auto network = Make(2);
  ASSERT_TRUE(network->transport(0).Send(1, kTag, Pattern(10, 1)).ok());
  ExpectDelivery(*network, 10, Step(1));
  EXPECT_EQ(network->sink(1).offered(), 0);
  const absl::Status declined = network->transport(1).Decline(0, kTag);
  EXPECT_TRUE(absl::IsNotFound(declined)) << declined;
  EXPECT_THAT(std::string(declined.message()),
              HasSubstr("channel 1, index 5, step 2 is not offered, or was answered"));
}

TEST_P(TransportContract, EveryPostAndEverySendEndsOnceInAnyOrder) {
  testing::PlaySeeds(5, 5, [&](uint64_t seed, testing::Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto network = Make(3);
    RandomTraffic traffic(network.get(), 3, seed);
    ASSERT_EQ(traffic.Run(400), "");
    seen.Count("taken", traffic.taken());
    seen.Count("declined", traffic.declined());
    seen.Count("lost", traffic.lost());
  });
}

TEST_P(TransportContract, SendsOneVectorToSeveralPeersInARing) {
  constexpr Rank kNodes = 3;
  auto network = Make(kNodes);
  std::vector<SharedSlice> own;
  std::vector<std::vector<SharedSlice>> buffers(kNodes);
  for (Rank self = 0; self < kNodes; ++self) own.push_back(Pattern(300000, 10.f * self));
  for (Rank self = 0; self < kNodes; ++self) {
    for (Rank peer : {(self + 1) % kNodes, (self + 2) % kNodes}) {
      buffers[self].push_back(Zeros(300000));
      ASSERT_TRUE(network->transport(self).Post(peer, kTag, buffers[self].back()).ok());
      ASSERT_TRUE(network->transport(self).Send(peer, kTag, own[self]).ok());
    }
  }
  for (Rank self = 0; self < kNodes; ++self) {
    for (Rank step : {1, 2}) {
      const Rank peer = (self + step) % kNodes;
      ASSERT_TRUE(network->sink(self).AwaitReceived(peer, kTag));
      ASSERT_TRUE(network->sink(self).AwaitSent(peer, kTag));
      EXPECT_TRUE(SameBits(buffers[self][step - 1], own[peer]));
    }
  }
}

TEST_P(TransportContract, CountsPayload) {
  auto network = Make(2);
  ExpectDelivery(*network, 1000, Step(1));
  ExpectDelivery(*network, 500000, Step(2));
  const TransportCounters sender = network->transport(0).counters();
  const TransportCounters receiver = network->transport(1).counters();
  EXPECT_EQ(sender.bytes_sent, 4 * 501000);
  EXPECT_EQ(sender.messages_sent, 2);
  EXPECT_EQ(sender.bytes_received, 0);
  EXPECT_EQ(receiver.bytes_received, 4 * 501000);
  EXPECT_EQ(receiver.messages_received, 2);
  EXPECT_EQ(receiver.messages_sent, 0);
}

TEST_P(TransportContract, ReleasesMemoryOnlyAfterTheSend) {
  auto network = Make(2);
  SharedSlice sent = Pattern(1000, 1);
  std::weak_ptr<float[]> memory = sent.owner;
  ASSERT_TRUE(network->transport(0).Send(1, kTag, std::move(sent)).ok());
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(network->sink(0).sent(), 0);
  const SharedSlice buffer = Zeros(1000);
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->sink(0).AwaitSent(1, kTag));
  EXPECT_TRUE(memory.expired());
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, kTag));
  EXPECT_TRUE(SameBits(buffer, Pattern(1000, 1)));
}

TEST_P(TransportContract, BoundsItsQueues) {
  auto network = Make(2);
  const SharedSlice one = Pattern(1, 1);
  for (uint32_t i = 0; i < Transport::kMaxQueued; ++i) {
    ASSERT_TRUE(network->transport(0).Send(1, Step(i), one).ok());
    ASSERT_TRUE(network->transport(0).Post(1, Step(i), one).ok());
  }
  const absl::Status send = network->transport(0).Send(1, Step(5000), one);
  EXPECT_TRUE(absl::IsResourceExhausted(send)) << send;
  const absl::Status post = network->transport(0).Post(1, Step(5000), one);
  EXPECT_TRUE(absl::IsResourceExhausted(post)) << post;
  EXPECT_EQ(network->sink(0).sent(), 0);  // the refused one included
}

TEST_P(TransportContract, RefusesATagTwice) {
  auto network = Make(2);
  const SharedSlice one = Pattern(1, 1);
  ASSERT_TRUE(network->transport(0).Send(1, kTag, one).ok());
  ASSERT_TRUE(network->transport(0).Post(1, kTag, one).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(network->transport(0).Send(1, kTag, one)));
  EXPECT_TRUE(absl::IsAlreadyExists(network->transport(0).Post(1, kTag, one)));
}

TEST_P(TransportContract, RefusesRanksThatAreNoPeers) {
  auto network = Make(2);
  for (Rank peer : {-1, 0, 2}) {
    const absl::Status send = network->transport(0).Send(peer, kTag, Pattern(1, 1));
    EXPECT_TRUE(absl::IsInvalidArgument(send)) << send;
    EXPECT_THAT(std::string(send.message()), HasSubstr(std::to_string(peer)));
    EXPECT_TRUE(absl::IsInvalidArgument(network->transport(0).Post(peer, kTag, Zeros(1))));
  }
}

TEST_P(TransportContract, AMessageOfAnotherSizeFailsBothEndsOnce) {
  auto network = Make(2);
  const SharedSlice buffer = Zeros(8);
  ASSERT_TRUE(network->transport(1).Post(0, kTag, buffer).ok());
  ASSERT_TRUE(network->transport(0).Send(1, kTag, Pattern(9, 1)).ok());
  const absl::Status at_receiver = network->sink(1).AwaitFailure(0);
  EXPECT_THAT(std::string(at_receiver.message()),
              HasSubstr("sent channel 1, index 5, step 2 with 36 bytes, expected 32"));
  const absl::Status at_sender = network->sink(0).AwaitFailure(1);
  EXPECT_THAT(std::string(at_sender.message()), HasSubstr("with 36 bytes, expected 32"));
  EXPECT_TRUE(SameBits(buffer, Zeros(8)));
  EXPECT_EQ(LostPeer(network->transport(0).Send(1, Step(1), Pattern(1, 1))), 1);
  EXPECT_EQ(LostPeer(network->transport(1).Post(0, Step(1), Zeros(1))), 0);
  EXPECT_EQ(LostPeer(network->transport(1).Decline(0, Step(1))), 0);
  EXPECT_EQ(LostPeer(network->transport(0).Withdraw(1, Step(1))), 1);
  network->transport(0).Shutdown();
  network->transport(1).Shutdown();
  EXPECT_EQ(network->sink(0).failures(), 1);
  EXPECT_EQ(network->sink(1).failures(), 1);
  EXPECT_EQ(network->sink(1).received(), 0);
}

TEST_P(TransportContract, APeerThatLeavesFailsThoseWhoAwaitIt) {
  auto network = Make(3);
  ExpectDelivery(*network, 10, Step(1));
  ASSERT_TRUE(network->transport(1).Post(0, kTag, Zeros(8)).ok());
  network->transport(0).Shutdown();
  const absl::Status why = network->sink(1).AwaitFailure(0);
  EXPECT_TRUE(absl::IsUnavailable(why)) << why;
  EXPECT_THAT(std::string(why.message()), HasSubstr("rank 0"));
  EXPECT_EQ(network->sink(2).failures(), 0);
  EXPECT_EQ(network->sink(0).failures(), 0);
}

TEST_P(TransportContract, ShutdownMidTransferIsSilentAndFinal) {
  auto network = Make(2);
  const int64_t size = int64_t{4} << 20;
  for (uint32_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(network->transport(1).Post(0, Step(i), Zeros(size)).ok());
    ASSERT_TRUE(network->transport(0).Send(1, Step(i), Pattern(size, 1)).ok());
  }
  ASSERT_TRUE(network->sink(1).AwaitReceived(0, Step(0)));
  network->transport(1).Shutdown();
  const int received = network->sink(1).received();
  network->transport(0).Shutdown();
  const int sent = network->sink(0).sent();
  network->transport(0).Shutdown();  // twice is as good as once
  EXPECT_EQ(network->sink(1).received(), received);
  EXPECT_EQ(network->sink(0).sent(), sent);
  EXPECT_EQ(network->sink(1).failures(), 0);
  EXPECT_FALSE(network->transport(0).Send(1, kTag, Pattern(1, 1)).ok());
  EXPECT_FALSE(network->transport(0).Post(1, kTag, Zeros(1)).ok());
}

}  // namespace
}  // namespace grapevine
