#include "node/control/closing.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr Round kMostRounds = Round{1} << 32;

TEST(Closing, ProgramsThatEndAlikeNeedOneRoundMore) {
  Closing closing({0, 1, 2}, kMostRounds);
  for (const Rank rank : {0, 1}) {
    EXPECT_TRUE(closing.OnSpent(rank, 50, false).ok());
    closing.OnProgress(2, 49, /*waits=*/true);
    EXPECT_EQ(closing.TakeCoast(), std::nullopt) << "what rank 2 waits for is on its way";
    EXPECT_EQ(closing.TakeRounds(), std::nullopt);
  }
  EXPECT_TRUE(closing.OnSpent(2, 50, false).ok());
  EXPECT_EQ(closing.TakeRounds(), 51);
  EXPECT_EQ(closing.TakeCoast(), 51);
  EXPECT_EQ(closing.TakeRounds(), std::nullopt) << "once";
  EXPECT_TRUE(closing.closed());
}

TEST(Closing, WhoHasMoreGradientsIsWaitedForWithoutAnEnd) {
  Closing closing({0, 1}, kMostRounds);
  EXPECT_TRUE(closing.OnSpent(0, 10, false).ok());
  closing.OnProgress(1, 10, /*waits=*/false);
  EXPECT_EQ(closing.TakeCoast(), std::nullopt) << "it computes still";
  closing.OnProgress(1, 10, /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), 11) << "round 10";
  closing.OnProgress(1, 11, /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), 14) << "and twice as many more as were needed since";
  closing.OnProgress(1, 13, /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), std::nullopt);
  closing.OnProgress(1, 14, /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), 21);
  EXPECT_TRUE(closing.OnSpent(1, 15, false).ok());
  EXPECT_EQ(closing.TakeRounds(), 22) << "rank 0 may have begun all that it had leave for";
}

TEST(Closing, LeaveAheadIsBounded) {
  Closing closing({0, 1}, kMostRounds);
  EXPECT_TRUE(closing.OnSpent(0, 1, false).ok());
  closing.OnProgress(1, 2, /*waits=*/false);
  closing.OnProgress(1, 1'000'000, /*waits=*/false);
  EXPECT_EQ(closing.TakeCoast(), 1'000'000 + Closing::kMostAhead);
}

TEST(Closing, WhatAllAgreeUponIsNeeded) {
  Closing closing({0, 1}, kMostRounds);
  EXPECT_TRUE(closing.OnSpent(0, 10, false).ok());
  closing.Need(10);
  EXPECT_EQ(closing.TakeCoast(), std::nullopt) << "it comes that far anyway";
  closing.Need(12);
  EXPECT_EQ(closing.TakeCoast(), 12);
}

TEST(Closing, WhoIsLostHasNoGradientsAndWhoComesInMayHaveSome) {
  Closing closing({0, 1, 2}, kMostRounds);
  EXPECT_TRUE(closing.OnSpent(0, 10, false).ok());
  EXPECT_TRUE(closing.OnSpent(2, 30, false).ok());
  closing.Lose(2);
  closing.TakeIn(2);
  closing.Lose(1);
  EXPECT_FALSE(closing.closed()) << "rank 2 is another process";
  EXPECT_TRUE(closing.OnSpent(2, 12, false).ok());
  EXPECT_EQ(closing.TakeRounds(), 13) << "30 was of one that is no more";
}

TEST(Closing, WhoComesInHearsWhatTheOthersHaveHeard) {
  Closing closing({0, 1}, kMostRounds, /*coasts=*/8);
  EXPECT_EQ(closing.TakeCoast(), 8) << "of those before, some may not have";
  closing.TakeIn(2);
  EXPECT_EQ(closing.TakeCoast(), 8);
}

TEST(Closing, OneMayEndItForAll) {
  Closing closing({0, 1}, kMostRounds);
  EXPECT_TRUE(closing.OnSpent(0, 10, /*all=*/true).ok());
  EXPECT_TRUE(closing.ends_all());
  EXPECT_EQ(closing.TakeCoast(), 0) << "it is to be told at once";
  EXPECT_TRUE(closing.OnSpent(0, 10, /*all=*/true).ok());
  EXPECT_EQ(closing.TakeCoast(), std::nullopt);
}

TEST(Closing, WhatCannotBeIsRefused) {
  Closing closing({0, 1}, 100);
  EXPECT_EQ(closing.OnSpent(5, 10, false).message(), "has given 10 gradients, its last, of none");
  for (const Round gradients : {-1, 100}) {
    EXPECT_EQ(closing.OnSpent(0, gradients, false).message(),
              absl::StrCat("has given ", gradients, " gradients, its last, of fewer than 100"));
  }
}

// Whatever heartbeats say.
TEST(Closing, StaysWithinTheMostRoundsThereCanBe) {
  Closing closing({0, 1}, 100);
  EXPECT_TRUE(closing.OnSpent(0, 10, false).ok());
  closing.OnProgress(1, std::numeric_limits<Round>::max(), /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), 99);
  closing.OnProgress(1, std::numeric_limits<Round>::min(), /*waits=*/true);
  EXPECT_EQ(closing.TakeCoast(), std::nullopt);
  EXPECT_TRUE(closing.OnSpent(1, 99, false).ok());
  EXPECT_EQ(closing.TakeRounds(), 100);
}

}  // namespace
}  // namespace grapevine
