#include "system/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The kernel's own wait for a lock has no deadline.
constexpr milliseconds kFirstRetry{1};
constexpr milliseconds kLastRetry{32};

// The lock of an open file, not of a process: threads exclude each other, and closing another
// descriptor of the file does not release it.
struct flock WholeFile() {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

int TryLock(int descriptor) {
  struct flock whole = WholeFile();
  return fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

bool IsBusy(int error) { return error == EAGAIN || error == EACCES || error == EINTR; }

// As network file systems say it whose lock service does not run.
bool MeansNoLocks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

// Whether others find this very file there: its last holder may have removed it between our opening
// and our locking it.
bool IsAt(const std::string& path, int descriptor) {
  struct stat held = {}, found = {};
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Take(const std::string& path,
                                        steady_clock::time_point deadline) {
  for (milliseconds retry = kFirstRetry;; retry = std::min(2 * retry, kLastRetry)) {
    UniqueDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file.open()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    const int error = TryLock(file.get());
    if (error == 0 && IsAt(path, file.get())) return FileLock(std::move(file));
    if (MeansNoLocks(error)) {
      return absl::UnimplementedError(absl::StrCat("the file system of ", path, " has no locks"));
    }
    if (error != 0 && !IsBusy(error)) {
      return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", path));
    }
    const steady_clock::time_point now = steady_clock::now();
    if (now >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(path, " is locked by another process"));
    }
    std::this_thread::sleep_until(std::min(now + retry, deadline));
  }
}

void FileLock::RemoveFile(const std::string& path) const {
  if (IsAt(path, file_.get())) unlink(path.c_str());
}

bool FileLock::IsHeld(const std::string& path) {
  const UniqueDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock whole = WholeFile();
  return file.open() && fcntl(file.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

}  // namespace grapevine
