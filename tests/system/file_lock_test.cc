#include "system/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/model/scratch_folder.h"

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
  held.reset();
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

TEST(FileLock, AFolderThatIsNotThereIsNamed) {
  const ScratchFolder folder;
  const std::string path = folder.File("none/lock");
  EXPECT_THAT(FileLock::Take(path, steady_clock::now()).status().message(), HasSubstr(path));
}

}  // namespace
}  // namespace grapevine
