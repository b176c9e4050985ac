#include <gtest/gtest.h>

#include <optional>

#include "node/runner/round_progress.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RoundLeave, IsForAllRoundsWhereNobodyAsks) {
  RoundLeave leave(RoundLeave::Extent::kAll);
  EXPECT_EQ(leave.Begin(0, 100), 100);
  EXPECT_EQ(leave.OnCompleted(1, milliseconds(1)), std::nullopt);
  EXPECT_EQ(leave.OnLimit(200), 200);
}

TEST(RoundLeave, IsForTheNextRoundWhereRoundsAreLong) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  EXPECT_EQ(leave.Begin(40, 100), 41);
  EXPECT_EQ(leave.OnCompleted(41, seconds(10)), 42);
}

TEST(RoundLeave, IsForAsManyShortRoundsAsAnAnswerTakes) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  leave.Begin(0, 1000);
  EXPECT_EQ(leave.OnCompleted(1, RoundLeave::kAhead / 10), 11);
  EXPECT_EQ(leave.OnCompleted(2, std::chrono::nanoseconds(0)), 2 + RoundLeave::kMostAhead);
  EXPECT_EQ(leave.OnCompleted(3, seconds(10)), std::nullopt) << "it is never taken back";
}

TEST(RoundLeave, EndsWithTheRun) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  leave.Begin(0, 5);
  EXPECT_EQ(leave.OnCompleted(1, milliseconds(1)), 5);
  EXPECT_EQ(leave.OnLimit(8), 8);
}

TEST(RoundLeave, StaysFromTheAnswerToTheRelease) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  leave.Begin(0, 100);
  EXPECT_EQ(leave.Hold(/*ballot=*/1), 1);
  EXPECT_EQ(leave.OnCompleted(1, milliseconds(100)), std::nullopt);
  EXPECT_EQ(leave.OnLimit(200), std::nullopt);
  EXPECT_EQ(leave.granted(), 1);
  EXPECT_EQ(leave.Release(/*ballot=*/1), 6);
}

// The release is handed from thread to thread, and may come after the next question.
TEST(RoundLeave, StaysUntilTheLastQuestionIsReleased) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  leave.Begin(0, 100);
  EXPECT_EQ(leave.Hold(/*ballot=*/1), 1);
  EXPECT_EQ(leave.Hold(/*ballot=*/2), 1);
  EXPECT_EQ(leave.OnCompleted(1, milliseconds(100)), std::nullopt);
  EXPECT_EQ(leave.Release(/*ballot=*/1), std::nullopt) << "more than was promised under 2";
  EXPECT_EQ(leave.granted(), 1);
  EXPECT_EQ(leave.Release(/*ballot=*/2), 6);
}

TEST(RoundLeave, IsForAllRoundsThatTheNodeWorksOnAtOnce) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead, /*least=*/2);
  EXPECT_EQ(leave.Begin(40, 100), 42);
  EXPECT_EQ(leave.OnCompleted(41, seconds(10)), 43);
}

TEST(RoundLeave, MayBeAskedForBeforeTheFirstRound) {
  RoundLeave leave(RoundLeave::Extent::kSomeAhead);
  EXPECT_EQ(leave.Hold(/*ballot=*/1), 0);
  EXPECT_EQ(leave.Begin(40, 100), 0);
  EXPECT_EQ(leave.Release(/*ballot=*/1), 41);
}

TEST(RoundLeave, ARunThatMayEndAnywhereEndsAheadOfAllLeave) {
  RoundLeave leave(RoundLeave::Extent::kOne);
  EXPECT_EQ(leave.Begin(0, 1000), 1);
  EXPECT_EQ(leave.OnCompleted(1, milliseconds(1)), 2) << "however short a round is";
  EXPECT_EQ(leave.OnLimit(3), std::nullopt);
  EXPECT_EQ(leave.OnCompleted(2, milliseconds(1)), 3);
  EXPECT_EQ(leave.OnCompleted(3, milliseconds(1)), std::nullopt);
}

}  // namespace
}  // namespace grapevine
