#include "node/life/role_search.h"

#include <gtest/gtest.h>

#include <chrono>

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using Step = RoleSearch::Step;

constexpr RoleSearch::Time kLost{std::chrono::seconds(1000)};

class RoleSearchTest : public ::testing::Test {
 protected:
  Step After(milliseconds time, const RoleSearch::Seen& seen) const {
    return search_.Next(seen, kLost + time);
  }

  const RoleSearch search_{
      {.begin = kLost, .precedence = milliseconds(60), .deadline = kLost + milliseconds(5000)}};
};

TEST_F(RoleSearchTest, TheEndOfTheRunComesBeforeAllElse) {
  EXPECT_EQ(After(milliseconds(0), {.over = true, .successor = true, .taken = true}), Step::kEnd);
  EXPECT_EQ(After(milliseconds(9000), {.over = true}), Step::kEnd);
}

TEST_F(RoleSearchTest, ASuccessorIsFollowedAtAnyTime) {
  EXPECT_EQ(After(milliseconds(0), {.successor = true, .taken = true}), Step::kFollow);
  EXPECT_EQ(After(milliseconds(9000), {.successor = true, .taken = true}), Step::kFollow);
}

TEST_F(RoleSearchTest, AVacantRoleIsTakenOnceOthersHaveHadPrecedence) {
  EXPECT_EQ(After(milliseconds(0), {}), Step::kWait);
  EXPECT_EQ(After(milliseconds(59), {}), Step::kWait);
  EXPECT_EQ(After(milliseconds(60), {}), Step::kTake);
  EXPECT_EQ(After(milliseconds(4900), {}), Step::kTake);
}

TEST_F(RoleSearchTest, ATakenRoleIsWaitedForUnlessItsProcessIsGone) {
  EXPECT_EQ(After(milliseconds(100), {.taken = true}), Step::kWait);
  EXPECT_EQ(After(milliseconds(100), {.taken = true, .abandoned = true}), Step::kRelease);
}

TEST_F(RoleSearchTest, ThereIsNoTimeForAnotherAttempt) {
  EXPECT_EQ(After(milliseconds(4749), {.taken = true}), Step::kWait);
  EXPECT_EQ(After(milliseconds(4750), {.taken = true}), Step::kGiveUp);
  EXPECT_EQ(search_.AfterTrouble(kLost + milliseconds(4749)), Step::kWait);
  EXPECT_EQ(search_.AfterTrouble(kLost + milliseconds(4750)), Step::kGiveUp);
}

}  // namespace
}  // namespace grapevine
