#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/status.h"
#include "run/records/run_directory.h"
#include "system/machine_names.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/refused_locks.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

const absl::Time kSince = absl::FromUnixSeconds(1763642003);

TEST(RunLock, IsHeldByOneWhichItNames) {
  const ScratchFolder run;
  {
    const auto held = RunLock::Take(run.path(), kSince);
    ASSERT_TRUE(held.ok()) << held.status();
    const absl::Status second = RunLock::Take(run.path(), kSince + absl::Hours(1)).status();
    EXPECT_EQ(FailureOf(second), Failure::kOutput);
    EXPECT_EQ(second.message(), run.path() + " is being written by process " +
                                    std::to_string(getpid()) + " on " + HostNames().front() +
                                    " since 2025-11-20 12:33:23 UTC; wait until it ends, end it, "
                                    "or choose another --out");
    EXPECT_EQ(CheckNobodyWrites(run.path()), second);
  }
  EXPECT_TRUE(CheckNobodyWrites(run.path()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(run.path())) << "it leaves nothing";
  EXPECT_TRUE(RunLock::Take(run.path(), kSince).ok());
}

// What a killed process has left holds nobody up.
TEST(RunLock, IsNotTheFile) {
  const ScratchFolder run;
  run.Write("run.lock", "process 1 on a host of old, which had much more to say of itself");
  EXPECT_TRUE(CheckNobodyWrites(run.path()).ok());
  const auto held = RunLock::Take(run.path(), kSince);
  ASSERT_TRUE(held.ok()) << held.status();
  const absl::Status second = RunLock::Take(run.path(), kSince).status();
  EXPECT_THAT(second.message(), HasSubstr(" UTC; wait until"));
}

TEST(RunLock, DoesNotCountAsContent) {
  const ScratchFolder run;
  EXPECT_EQ(*LookBesideLock(run.File("none")), FoundFolder::kNothing);
  const auto held = RunLock::Take(run.path(), kSince);
  EXPECT_EQ(*LookBesideLock(run.path()), FoundFolder::kEmpty);
  run.Write("notes.txt", "x");
  EXPECT_EQ(*LookBesideLock(run.path()), FoundFolder::kFull);
}

TEST(RunLock, NeedsAFolder) {
  const ScratchFolder run;
  const absl::Status status = RunLock::Take(run.File("none"), kSince).status();
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  EXPECT_THAT(status.message(), HasSubstr(run.File("none")));
}

TEST(RunLock, StopsNoRunWhereThereAreNoLocks) {
  const ScratchFolder run;
  EXPECT_EXIT(
      {
        testing::RefuseFileLocks();
        const auto first = RunLock::Take(run.path(), kSince);
        const auto second = RunLock::Take(run.path(), kSince);
        _exit(first.ok() && second.ok() && CheckNobodyWrites(run.path()).ok() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace grapevine
