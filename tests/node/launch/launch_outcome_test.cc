#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/launch/launch_plan.h"
#include "tests/node/launch/wait_status.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// Wait statuses as the kernel encodes them.

ChildEnd End(Rank rank, int wait_status, bool signalled = false) {
  return {.rank = rank, .pid = 100 + rank, .wait_status = wait_status, .signalled = signalled};
}

TEST(LaunchOutcome, IsOkOnlyWhenAllAre) {
  EXPECT_TRUE(LaunchOutcome(std::vector{End(0, 0), End(1, 0)}, 0).ok());
  EXPECT_FALSE(LaunchOutcome(std::vector{End(0, 0), End(1, Exited(1))}, 0).ok());
}

TEST(LaunchOutcome, NamesWhatExplainsMost) {
  // Each explains more than those after it.
  const std::pair<ChildEnd, const char*> causes[] = {
      {End(4, Killed(SIGSEGV)), "rank 4 (process 104) was killed by signal 11"},
      {End(3, Exited(7)), "rank 3 (process 103) ended with exit code 7"},
      {End(2, Killed(SIGKILL), true), "rank 2 (process 102) did not end when the others did"},
      {End(1, Exited(6)), "rank 1 (process 101) ended with exit code 6"},
      {End(0, Exited(143), true), "rank 0 (process 100) ended with exit code 143"}};
  std::vector<ChildEnd> ends;
  for (auto cause = std::rbegin(causes); cause != std::rend(causes); ++cause) {
    ends.push_back(cause->first);
    EXPECT_THAT(std::string(LaunchOutcome(ends, 0).message()), HasSubstr(cause->second));
  }
}

TEST(LaunchOutcome, AmongEqualsTheFirst) {
  const std::vector ends = {End(5, Exited(4)), End(1, Exited(7))};
  EXPECT_EQ(FailureOf(LaunchOutcome(ends, 0)), Failure::kOutput);
}

// Nodes that have heard one verdict end alike, in any order: the launcher cannot know whose it was.
TEST(LaunchOutcome, BlamesNobodyAloneWhereSeveralEndAlike) {
  const std::vector ends = {End(5, Exited(4)), End(1, Exited(4)), End(2, Exited(143), true),
                            End(3, Exited(4))};
  EXPECT_EQ(LaunchOutcome(ends, 0).message(),
            "ranks 1, 3, 5 ended with exit code 4; their last lines say why");
}

// A program that is no node of ours, or a sanitizer's: what scripts see is in the table.
TEST(LaunchOutcome, AnExitCodeOutsideTheTableIsAFailureWithoutAClass) {
  for (const int code : {1, 66, 127, 255}) {
    const absl::Status outcome = LaunchOutcome(std::vector{End(0, 0), End(1, Exited(code))}, 0);
    EXPECT_EQ(FailureOf(outcome), Failure::kOther) << code;
    EXPECT_THAT(std::string(outcome.message()), HasSubstr(absl::StrCat("exit code ", code)));
  }
}

TEST(LaunchOutcome, TheUsersSignalExplainsAllButSuccess) {
  const std::vector ends = {End(0, Exited(130), true), End(1, Killed(SIGKILL), true)};
  EXPECT_EQ(FailureOf(LaunchOutcome(ends, SIGINT)), Failure::kInterrupted);
  EXPECT_EQ(FailureOf(LaunchOutcome(ends, SIGTERM)), Failure::kTerminated);
  EXPECT_TRUE(LaunchOutcome(std::vector{End(0, 0, true)}, SIGINT).ok());
}

}  // namespace
}  // namespace grapevine
