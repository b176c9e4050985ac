#include "node/life/role/role_search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr RoleSearch::Time kLost{std::chrono::seconds(1000)};
constexpr milliseconds kPrecedence{60};
constexpr milliseconds kPatience{5000};
constexpr Rank kHolder = 2;
constexpr uint64_t kTenure = 77;
constexpr Rank kOwnRank = 5;
constexpr uint64_t kOwn = 99;

RoleSearch Search(uint64_t known, bool gone) {
  return RoleSearch({.lost = kHolder,
                     .known = known,
                     .gone = gone,
                     .own = kOwn,
                     .begin = kLost,
                     .precedence = kPrecedence,
                     .deadline = kLost + kPatience});
}

RoleSearch::Seen Held(Rank rank, uint64_t tenure, bool on_this_machine = true) {
  return {.taken = true,
          .holder = RoleSearch::Holder{
              .rank = rank, .tenure = tenure, .on_this_machine = on_this_machine}};
}

TEST(RoleSearch, TheEndOfTheRunComesBeforeAllElse) {
  RoleSearch search = Search(kTenure, false);
  RoleSearch::Seen seen = Held(kHolder + 1, kTenure + 1);
  seen.over = true;
  EXPECT_EQ(search.Next(seen, kLost), RoleSearch::Step::kEnd);
  EXPECT_EQ(search.Next({.over = true}, kLost + 2 * kPatience), RoleSearch::Step::kEnd);
}

TEST(RoleSearch, ASuccessorIsFollowedAtAnyTimeAndIsKnownFromThenOn) {
  RoleSearch search = Search(kTenure, false);
  EXPECT_EQ(search.Next(Held(kHolder, kTenure), kLost), RoleSearch::Step::kWait);
  EXPECT_EQ(search.known(), kTenure);
  EXPECT_EQ(search.Next(Held(kHolder + 1, kTenure + 1), kLost + 2 * kPatience),
            RoleSearch::Step::kFollow);
  EXPECT_EQ(search.known(), kTenure + 1);
}

TEST(RoleSearch, ANodeThatHasTheRoleAnewIsASuccessorOfItself) {
  EXPECT_EQ(Search(kTenure, false).Next(Held(kHolder, kTenure + 1), kLost),
            RoleSearch::Step::kFollow);
}

TEST(RoleSearch, WhereNoTenureIsKnownAnotherRankIsASuccessor) {
  EXPECT_EQ(Search(0, false).Next(Held(kHolder + 1, kTenure), kLost), RoleSearch::Step::kFollow);
  RoleSearch search = Search(0, /*gone=*/true);
  EXPECT_EQ(search.Next(Held(kHolder, kTenure, false), kLost), RoleSearch::Step::kWait);
  EXPECT_EQ(search.Next(Held(kHolder, kTenure + 1), kLost), RoleSearch::Step::kFollow)
      << "the tenure of the lost one was seen before";
}

TEST(RoleSearch, TheRoleOfAnAttemptWhoseAnswerWasLostIsTakenAnew) {
  RoleSearch search = Search(kTenure, false);
  EXPECT_EQ(search.Next(Held(kOwnRank, kOwn, false), kLost), RoleSearch::Step::kRelease);
  EXPECT_EQ(search.known(), kTenure);
}

TEST(RoleSearch, AVacantRoleIsTakenOnceOthersHaveHadPrecedence) {
  RoleSearch search = Search(kTenure, false);
  EXPECT_EQ(search.Next({}, kLost), RoleSearch::Step::kWait);
  EXPECT_EQ(search.Next({}, kLost + kPrecedence - milliseconds(1)), RoleSearch::Step::kWait);
  EXPECT_EQ(search.Next({}, kLost + kPrecedence), RoleSearch::Step::kTake);
  EXPECT_EQ(search.Next({}, kLost + kPatience - milliseconds(1)), RoleSearch::Step::kTake);
  EXPECT_EQ(search.Next({}, kLost + kPatience), RoleSearch::Step::kGiveUp);
}

TEST(RoleSearch, ATakenRoleIsWaitedForUnlessItsProcessIsGoneFromThisMachine) {
  const RoleSearch::Time later = kLost + 2 * kPrecedence;
  EXPECT_EQ(Search(kTenure, false).Next(Held(kHolder, kTenure), later), RoleSearch::Step::kWait);
  EXPECT_EQ(Search(kTenure, true).Next(Held(kHolder, kTenure, false), later),
            RoleSearch::Step::kWait);
  EXPECT_EQ(Search(kTenure, true).Next(Held(kHolder, kTenure), later), RoleSearch::Step::kRelease);
  EXPECT_EQ(Search(kTenure, true).Next({.taken = true}, later), RoleSearch::Step::kWait)
      << "by a process of another run, say";
}

TEST(RoleSearch, IsGivenUpWhereThereIsNoTimeForAnotherAttempt) {
  RoleSearch search = Search(kTenure, false);
  const RoleSearch::Time last = kLost + kPatience - milliseconds(250);
  EXPECT_EQ(search.Next({.taken = true}, last - milliseconds(1)), RoleSearch::Step::kWait);
  EXPECT_EQ(search.Next({.taken = true}, last), RoleSearch::Step::kGiveUp);
  EXPECT_EQ(search.AfterTrouble(last - milliseconds(1)), RoleSearch::Step::kWait);
  EXPECT_EQ(search.AfterTrouble(last), RoleSearch::Step::kGiveUp);
}

}  // namespace
}  // namespace grapevine
