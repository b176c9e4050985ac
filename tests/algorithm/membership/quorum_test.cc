// How many members must be left: see quorum.h, members_lately.h.
#include "algorithm/membership/quorum.h"

#include <chrono>
#include <optional>

#include "algorithm/membership/members_lately.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::seconds;

constexpr seconds kMemory{30};

TEST(Quorum, IsHalfUnlessTheUserSaysOtherwise) {
  EXPECT_EQ(LeastMembers(std::nullopt, 8), 4);
  EXPECT_EQ(LeastMembers(std::nullopt, 7), 4);
  EXPECT_EQ(LeastMembers(std::nullopt, 3), 2);
  EXPECT_EQ(LeastMembers(std::nullopt, 2), 1);
  EXPECT_EQ(LeastMembers(std::nullopt, 1), 1);
  EXPECT_EQ(LeastMembers(1, 8), 1);
  EXPECT_EQ(LeastMembers(7, 8), 7);
}

TEST(Quorum, OfTwoSidesThatAreNotAlikeOnlyOneHasIt) {
  for (Member members = 1; members <= 64; ++members) {
    for (Member side = 0; side <= members; ++side) {
      const Member least = LeastMembers(std::nullopt, members);
      EXPECT_EQ(side >= least, 2 * side >= members) << side << " of " << members;
      if (2 * side == members) continue;
      EXPECT_NE(side >= least, members - side >= least) << side << " of " << members;
    }
  }
}

TEST(Quorum, SaysHowManyAreLeftOfHowManyAndWhatLetsThemGoOn) {
  EXPECT_EQ(TooFewMembers(1, 4, std::nullopt, 3, "--peer-timeout=30s"),
            "1 of 4 nodes is left, fewer than half of the 3 that were in the run within "
            "--peer-timeout=30s; with --min-nodes=1 so few would go on");
  EXPECT_EQ(TooFewMembers(2, 4, 3, 4, "--peer-timeout=30s"),
            "2 of 4 nodes are left, fewer than --min-nodes=3");
}

TEST(MembersLately, AreThoseOfTheLastViewHoweverOldItIs) {
  EXPECT_EQ(MembersLately(8).Most(seconds(1000), kMemory), 8);
  MembersLately members(8);
  members.OnView(5, seconds(10));
  EXPECT_EQ(members.Most(seconds(1000), kMemory), 5);
}

TEST(MembersLately, AViewIsRememberedForAsLongAsItIsSaid) {
  MembersLately members(8);
  members.OnView(5, seconds(10));
  EXPECT_EQ(members.Most(seconds(10), kMemory), 8);
  EXPECT_EQ(members.Most(seconds(40), kMemory), 8);
  EXPECT_EQ(members.Most(seconds(41), kMemory), 5);
}

TEST(MembersLately, AreRememberedForLongerWhereAllStoodStillMeanwhile) {
  MembersLately members(8);
  members.OnView(5, seconds(10));
  members.Postpone(seconds(1000));
  EXPECT_EQ(members.Most(seconds(1040), kMemory), 8);
  EXPECT_EQ(members.Most(seconds(1041), kMemory), 5);
}

// Whatever is agreed upon in between.
TEST(MembersLately, CannotBeWalkedDownWithinTheirMemory) {
  MembersLately members(8);
  for (Member left = 7; left >= 1; --left) {
    const seconds now(10 + 8 - left);
    EXPECT_EQ(members.Most(now, kMemory), 8);
    members.OnView(left, now);
  }
  EXPECT_EQ(members.Most(seconds(41), kMemory), 8) << "all were there until second 11";
  EXPECT_EQ(members.Most(seconds(42), kMemory), 7);
}

TEST(MembersLately, ThoseWhoAreLostOneByOneAreForgottenOneByOne) {
  MembersLately members(8);
  for (Member left = 7; left >= 1; --left) {
    const seconds now = (8 - left) * 2 * kMemory;
    EXPECT_EQ(members.Most(now, kMemory), left + 1);
    members.OnView(left, now);
  }
}

TEST(MembersLately, WhoComesInCounts) {
  MembersLately members(4);
  members.OnView(3, seconds(10));
  members.OnView(6, seconds(20));
  EXPECT_EQ(members.Most(seconds(20), kMemory), 6);
  members.OnView(5, seconds(21));
  members.OnView(4, seconds(60));
  EXPECT_EQ(members.Most(seconds(50), kMemory), 6);
  EXPECT_EQ(members.Most(seconds(60), kMemory), 5);
  EXPECT_EQ(members.Most(seconds(91), kMemory), 4);
}

}  // namespace
}  // namespace grapevine
