#include <gtest/gtest.h>

#include "node/transport/credit_desk.h"

namespace grapevine {
namespace {

using std::chrono::microseconds;

constexpr int64_t kMeteredChunk = 10'000;
constexpr int kChunks = 16;

// Messages over a network that is known, by the clock of a test.
class ArrivalMeterTest : public ::testing::Test {
 protected:
  struct Network {
    microseconds one_way{10'000};
    microseconds chunk{5'000};  // 2 MB/s
  };

  // A message of 16 chunks whose sender needs `late` after the credit came.
  void Message(Rank from, Network network, microseconds late = microseconds(0)) {
    const Tag tag{.index = round_++};
    meter_.Announced(from, tag, now_);
    now_ += 2 * network.one_way + late;
    for (int i = 1; i <= kChunks; ++i) {
      now_ += network.chunk;
      meter_.Landed(from, tag, kMeteredChunk, i == kChunks, now_);
    }
  }

  // The bytes that arrive from `from` while a credit travels to `to`.
  double Meanwhile(Rank to, Rank from = 1) const {
    return meter_.BytesWhileACreditTravels(to, from);
  }

  ArrivalMeter meter_;
  ArrivalMeter::Time now_{};
  Round round_ = 0;
};

TEST_F(ArrivalMeterTest, IsRateTimesHalfARoundTrip) {
  EXPECT_EQ(Meanwhile(1), 0) << "before anything was measured";
  Message(1, {});
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
}

TEST_F(ArrivalMeterTest, ASenderThatIsLateMakesTheWayNoLonger) {
  Message(1, {}, microseconds(70'000));
  EXPECT_NEAR(Meanwhile(1), 2e6 * 45e-3, 1) << "nothing better is known";
  Message(1, {});
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
  Message(1, {}, microseconds(70'000));
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
}

TEST_F(ArrivalMeterTest, WhatWasReadOutOfABufferDoesNotMakeTheNetworkFast) {
  Message(1, {});
  Message(1, {.one_way = microseconds(10'000), .chunk = microseconds(1)});
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
}

TEST_F(ArrivalMeterTest, ForgetsRatesAfterAFewMessages) {
  Message(1, {});
  const Network faster{.one_way = microseconds(10'000), .chunk = microseconds(1'000)};
  for (size_t i = 0; i + 1 < ArrivalMeter::kRates; ++i) Message(1, faster);
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
  Message(1, faster);
  EXPECT_NEAR(Meanwhile(1), 10e6 * 10e-3, 1);
}

TEST_F(ArrivalMeterTest, TakesAnUnknownPeerForTheNearest) {
  Message(1, {.one_way = microseconds(40'000), .chunk = microseconds(5'000)});
  EXPECT_NEAR(Meanwhile(9), 2e6 * 40e-3, 1);
  Message(2, {});
  EXPECT_NEAR(Meanwhile(9), 2e6 * 10e-3, 1);
  EXPECT_NEAR(Meanwhile(1), 2e6 * 40e-3, 1);
}

// A link between sites that others use, too, makes no message slow that does not come over it.
TEST_F(ArrivalMeterTest, EachPeersMessagesHaveTheirRate) {
  Message(1, {});
  Message(2, {.one_way = microseconds(30'000), .chunk = microseconds(50'000)});
  EXPECT_NEAR(Meanwhile(2, 1), 2e6 * 30e-3, 1);
  EXPECT_NEAR(Meanwhile(1, 2), 0.2e6 * 10e-3, 1);
  EXPECT_NEAR(Meanwhile(2, 9), 0.2e6 * 30e-3, 1) << "the slowest of all, for one who is unknown";
}

// Two messages at half the rate each: the node receives at the whole one.
TEST_F(ArrivalMeterTest, CountsWhatComesBeside) {
  meter_.Announced(1, {.index = 0}, now_);
  now_ += microseconds(20'000);
  for (int i = 1; i <= kChunks; ++i) {
    now_ += microseconds(10'000);
    meter_.Landed(2, {.channel = 3}, kMeteredChunk, false, now_);
    meter_.Landed(1, {.index = 0}, kMeteredChunk, i == kChunks, now_);
  }
  EXPECT_NEAR(Meanwhile(1), 2e6 * 10e-3, 1);
}

TEST_F(ArrivalMeterTest, AMessageOfOneChunkTellsNothing) {
  meter_.Announced(1, {.index = 0}, now_);
  meter_.Landed(1, {.index = 0}, kMeteredChunk, true, now_ + microseconds(30'000));
  EXPECT_EQ(Meanwhile(1), 0);
}

TEST_F(ArrivalMeterTest, APeerThatIsGoneLeavesNothingUnderWay) {
  meter_.Announced(1, {.index = 0}, now_);
  meter_.Landed(1, {.index = 0}, kMeteredChunk, false, now_);
  meter_.Forget(1);
  meter_.Landed(1, {.index = 0}, kMeteredChunk, true, now_ + microseconds(5'000));
  EXPECT_EQ(Meanwhile(1), 0);
}

}  // namespace
}  // namespace grapevine
