#include "system/file_lock.h"

#include <fcntl.h>

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
int TryLock(int descriptor) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Take(const std::string& path,
                                        steady_clock::time_point deadline) {
  UniqueDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.open()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  for (milliseconds retry = kFirstRetry;; retry = std::min(2 * retry, kLastRetry)) {
    const int error = TryLock(file.get());
    if (error == 0) return FileLock(std::move(file));
    if (error != EAGAIN && error != EACCES && error != EINTR) {
      return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", path));
    }
    const steady_clock::time_point now = steady_clock::now();
    if (now >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(path, " is locked by another process"));
    }
    std::this_thread::sleep_until(std::min(now + retry, deadline));
  }
}

}  // namespace grapevine
