// A folder store on a file server whose client remembers which names are not there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "node/store/file_store.h"
#include "system/mutex.h"
#include "tests/model/scratch_folder.h"
#include "tests/node/store/in_time.h"

namespace grapevine {
namespace {

// As a client of NFS sees the files below a path: who has not found a name does not find it for a
// while, until it opens the folder (close-to-open consistency; not if mounted with nocto).
class Client {
 public:
  Client(std::string mount, bool close_to_open)
      : mount_(std::move(mount)), close_to_open_(close_to_open) {}

  int Open(const char* path, int flags, mode_t mode) {
    const bool here = std::string_view(path).starts_with(mount_);
    MutexLock lock(mutex_);
    if (here && (flags & O_DIRECTORY) != 0 && close_to_open_) missing_.clear();
    if (here && (flags & O_CREAT) == 0 && missing_.contains(path)) {
      errno = ENOENT;
      return -1;
    }
    const int opened = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
    if (here && opened < 0 && errno == ENOENT) missing_.insert(path);
    return opened;
  }

 private:
  const std::string mount_;
  const bool close_to_open_;
  Mutex mutex_;
  std::set<std::string> missing_ ABSL_GUARDED_BY(mutex_);
};

Client* client = nullptr;

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (client != nullptr) return client->Open(path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace {

using ::testing::HasSubstr;

// One folder, as the server's own machine has it, and as a client does.
class RememberedFolder : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(there_.Put("first", "value", 0, InTime()).ok());
    std::filesystem::create_directory_symlink(folder_.File("store"), folder_.File("mount"));
    client = &client_;
  }
  void TearDown() override { client = nullptr; }

  const ScratchFolder folder_;
  Client client_{folder_.File("mount"), /*close_to_open=*/GetParam()};
  FileStore there_{folder_.File("store")}, here_{folder_.File("mount")};
};

TEST_P(RememberedFolder, AKeyHasOneHolder) {
  ASSERT_EQ(here_.Get("role", InTime()).value(), std::nullopt);
  const LeaseId lease = there_.Grant(std::chrono::minutes(1), InTime()).value();
  const auto taken = there_.CompareAndSwap("role", 0, "there", lease, InTime());
  ASSERT_TRUE(taken.ok() && *taken) << taken.status();
  const auto second = here_.CompareAndSwap("role", 0, "here", 0, InTime());
  if (GetParam()) {
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(*second, std::nullopt);
  } else {
    EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
    EXPECT_THAT(std::string(second.status().message()), HasSubstr("does not see it yet"));
  }
  EXPECT_EQ(there_.Get("role", InTime()).value()->value, "there");
  EXPECT_TRUE(there_.KeepAlive(lease, InTime()).ok());
}

TEST_P(RememberedFolder, ALeaseWhoseKeyAnotherHasIsNotKept) {
  const LeaseId lease = there_.Grant(std::chrono::minutes(1), InTime()).value();
  ASSERT_TRUE(there_.Put("role", "there", lease, InTime()).ok());
  ASSERT_TRUE(there_.KeepAlive(lease, InTime()).ok());
  std::filesystem::remove(folder_.File("store/keys/726f6c65"));  // by whoever cannot have seen it
  const absl::Status removed = there_.KeepAlive(lease, InTime());
  EXPECT_TRUE(absl::IsNotFound(removed)) << removed;
  EXPECT_THAT(std::string(removed.message()), HasSubstr("the key role"));
  ASSERT_TRUE(here_.Put("role", "here", 0, InTime()).ok());
  const absl::Status written = there_.KeepAlive(lease, InTime());
  EXPECT_TRUE(absl::IsNotFound(written)) << written;
  EXPECT_THAT(std::string(written.message()), HasSubstr("it was written by another"));
  // Who gives it up itself has not lost it.
  const LeaseId other = there_.Grant(std::chrono::minutes(1), InTime()).value();
  ASSERT_TRUE(there_.Put("mine", "one", other, InTime()).ok());
  ASSERT_TRUE(there_.Delete("mine", InTime()).value());
  EXPECT_TRUE(there_.KeepAlive(other, InTime()).ok());
}

INSTANTIATE_TEST_SUITE_P(Clients, RememberedFolder, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "CloseToOpen" : "Nocto"; });

}  // namespace
}  // namespace grapevine
