#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "system/file.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/refused_locks.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

TEST(FileLock, OneHolderAtATime) {
  const ScratchFolder folder;
  const std::string path = folder.File("lock");
  absl::StatusOr<FileLock> first = FileLock::Take(path, steady_clock::now() + minutes(1));
  ASSERT_TRUE(first.ok()) << first.status();
  std::optional<FileLock> held(*std::move(first));
  const absl::Status refused =
      FileLock::Take(path, steady_clock::now() + milliseconds(10)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr(path + " is locked by another process"));
  EXPECT_TRUE(FileLock::IsHeld(path));
  held.reset();
  EXPECT_FALSE(FileLock::IsHeld(path));
  EXPECT_TRUE(FileLock::Take(path, steady_clock::now()).ok());
}

TEST(FileLock, TheDeadHoldNone) {
  const ScratchFolder folder;
  const std::string path = folder.File("lock");
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FileLock::Take(path, steady_clock::now() + minutes(1));
    _exit(lock.ok() ? 0 : 1);  // without its destructor
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(FileLock::Take(path, steady_clock::now()).ok());
}

// Whoever waits for it has opened a file that others will not find.
TEST(FileLock, TheHolderMayRemoveTheFile) {
  const ScratchFolder folder;
  const std::string path = folder.File("lock");
  absl::StatusOr<FileLock> first = FileLock::Take(path, steady_clock::now());
  ASSERT_TRUE(first.ok()) << first.status();
  std::optional<FileLock> held(*std::move(first));
  std::thread waiting([&] {
    const auto second = FileLock::Take(path, steady_clock::now() + minutes(1));
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_TRUE(FileLock::IsHeld(path));
  });
  std::filesystem::remove(path);
  held.reset();
  waiting.join();
}

TEST(FileLock, AFileThatIsNotThereIsNotHeldAndNotMade) {
  const ScratchFolder folder;
  EXPECT_FALSE(FileLock::IsHeld(folder.File("lock")));
  EXPECT_FALSE(std::filesystem::exists(folder.File("lock")));
}

// As the kernel says it on a network file system whose lock service does not run.
TEST(FileLock, AFileSystemWithoutLocksIsNamed) {
  const ScratchFolder folder;
  const std::string path = folder.File("lock");
  EXPECT_EXIT(
      {
        testing::RefuseFileLocks();
        const absl::Status status = FileLock::Take(path, steady_clock::now() + minutes(1)).status();
        std::cerr << status << FileLock::IsHeld(path);
        _exit(absl::IsUnimplemented(status) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "the file system of " + path + " has no locks");
}

TEST(FileLock, AFolderThatIsNotThereIsNamed) {
  const ScratchFolder folder;
  const std::string path = folder.File("none/lock");
  EXPECT_THAT(FileLock::Take(path, steady_clock::now()).status().message(), HasSubstr(path));
}

}  // namespace
}  // namespace grapevine
