#include "node/transport/credit_desk.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kBytes = 160'000;
constexpr int64_t kChunk = 10'000;

Tag Of(Round round) { return {.channel = 0, .index = round, .step = 0}; }

class CreditDeskTest : public ::testing::Test {
 protected:
  void Post(Rank from, Round round) {
    Call(desk_.Post(from, Of(round), round, kBytes, [this, from, round] {
      announced_.push_back(round);
      desk_.Announced(from, Of(round));
    }));
  }
  // Chunks [first, end) of 16, each 5 ms after the one before: 2 MB/s.
  void Land(Rank from, Round round, int first, int end) {
    for (int i = first; i < end; ++i) {
      now_ += milliseconds(5);
      Call(desk_.Landed(from, {Of(round), i * kChunk, kChunk, kBytes, {}}));
    }
  }
  static void Call(const CreditDesk::Due& due) {
    for (const CreditDesk::Announce& announce : due) announce();
  }

  ArrivalMeter::Time now_{};
  CreditDesk desk_{[this] { return now_; }};
  std::vector<Round> announced_;
};

TEST_F(CreditDeskTest, LearnsTheNetworkAndThenGivesCreditsAhead) {
  Post(1, 0);
  Post(2, 1);
  EXPECT_EQ(announced_, std::vector<Round>{0});
  now_ += milliseconds(30);  // there and back
  Land(1, 0, 0, 15);
  EXPECT_EQ(announced_, std::vector<Round>{0}) << "nothing is known of the network yet";
  Land(1, 0, 15, 16);
  EXPECT_EQ(announced_, (std::vector<Round>{0, 1}));

  // 15 ms at 2 MB/s are 30 kB, three chunks.
  Post(1, 2);
  now_ += milliseconds(30);
  Land(2, 1, 0, 12);
  EXPECT_EQ(announced_, (std::vector<Round>{0, 1}));
  Land(2, 1, 12, 13);
  EXPECT_EQ(announced_, (std::vector<Round>{0, 1, 2}));
}

TEST_F(CreditDeskTest, AMessageThatCameWithoutItsCreditNeedsItNoMore) {
  Post(1, 0);
  Post(2, 1);
  Land(2, 1, 0, 16);
  Land(1, 0, 0, 16);
  EXPECT_EQ(announced_, std::vector<Round>{0});
}

TEST_F(CreditDeskTest, APeerThatIsLostHoldsUpNobody) {
  Post(1, 0);
  Post(2, 1);
  Call(desk_.Lost(1));
  EXPECT_EQ(announced_, (std::vector<Round>{0, 1}));
}

TEST_F(CreditDeskTest, TheCreditsOfALostPeerAreGone) {
  Post(1, 0);
  Post(2, 1);
  Call(desk_.Lost(2));
  Land(1, 0, 0, 16);
  EXPECT_EQ(announced_, std::vector<Round>{0});
}

}  // namespace
}  // namespace grapevine
