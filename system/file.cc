#include "system/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "system/disk_wait.h"
#include "system/file_descriptor.h"

namespace grapevine {

namespace {

// Opens a regular file and refuses anything else. Does not wait for the writer of a pipe.
absl::StatusOr<UniqueDescriptor> OpenToRead(const std::string& path, struct stat* info) {
  UniqueDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  if (fstat(file.get(), info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat ", path));
  }
  if (S_ISREG(info->st_mode)) return file;
  return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  struct stat info;
  ASSIGN_OR_RETURN(const UniqueDescriptor file, OpenToRead(path, &info));
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  struct stat info;
  ASSIGN_OR_RETURN(const UniqueDescriptor file, OpenToRead(path, &info));
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  ssize_t got = 0;
  while ((got = read(file.get(), buffer.data(), buffer.size())) > 0) {
    bytes.append(buffer.data(), static_cast<size_t>(got));
  }
  if (got < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  return bytes;
}

namespace {

absl::Status SystemError(int error, std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat(std::string(what), " ", path));
}

// A rename is durable only once its folder is on the disk.
absl::Status SyncFolderOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return SyncFolder(parent.empty() ? "." : parent.string());
}

// Refuses a path at which a rename would replace a device, a pipe or a link to one.
absl::Status CheckReplaceable(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path, " exists and is not a regular file; choose another name"));
}

// Whether `error` is what file systems report that have no fsync of a folder. Files in a folder are
// durable on such file systems.
bool MeansNoSyncOfFolders(int error) {
  return error == EINVAL || error == EOPNOTSUPP || error == ENOSYS;
}

// Whether the file at `path` is the one that is open as `descriptor`. Another process may have
// removed it after it was opened and before it was locked.
bool IsAt(const std::string& path, int descriptor) {
  struct stat held = {}, found = {};
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

// Whether `error` is what file systems without hard links report.
bool MeansNoLinks(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
}

// Returns a name that no other process uses. The process's number would not be unique: it is 1 in
// every container that shares the folder.
std::string TemporaryName(const std::string& path) {
  std::random_device random;
  return absl::StrFormat("%s.tmp.%08x%08x", path, random(), random());
}

// Marks a file as being written until the descriptor is closed, which the kernel does for a process
// that dies. Returns false if another process holds the file in order to remove it. Returns true
// without a mark on a file system without locks, where RemoveIfAbandoned removes nothing.
bool MarkAsBeingWritten(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

UniqueDescriptor OpenNew(const std::string& path) {
  const DiskWait wait(path);
  return UniqueDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(std::string path) {
  RETURN_IF_ERROR(CheckReplaceable(path));
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string temporary = TemporaryName(path);
    UniqueDescriptor file = OpenNew(temporary);
    if (!file.open() && errno == EEXIST) continue;
    if (!file.open()) return SystemError(errno, "cannot create", path);
    // Another process that tidies the folder may have removed the file before it was marked.
    if (!MarkAsBeingWritten(file.get()) || !IsAt(temporary, file.get())) continue;
    return std::unique_ptr<AtomicFile>(
        new AtomicFile(std::move(path), std::move(temporary), std::move(file)));
  }
  return absl::UnavailableError(
      absl::StrCat("cannot create ", path, ": what is written beside it is removed at once"));
}

bool AtomicFile::RemoveIfAbandoned(const std::string& temporary) {
  const UniqueDescriptor file(
      open(temporary.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.open() && flock(file.get(), LOCK_EX | LOCK_NB) == 0 && IsAt(temporary, file.get()) &&
         unlink(temporary.c_str()) == 0;
}

AtomicFile::AtomicFile(std::string path, std::string temporary, UniqueDescriptor file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}

AtomicFile::~AtomicFile() {
  if (file_.open()) unlink(temporary_.c_str());
}

// Writes in pieces, so that DiskWait shows progress from one piece to the next.
absl::Status AtomicFile::Append(std::string_view bytes) {
  constexpr size_t kPiece = size_t{16} << 20;
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    const DiskWait wait(path_);
    const int error = WriteAll(file_.get(), piece);
    if (error != 0) return SystemError(error, "cannot write", temporary_);
    bytes.remove_prefix(piece.size());
  } while (!bytes.empty());
  return absl::OkStatus();
}

absl::Status AtomicFile::Flush() {
  const DiskWait wait(path_);
  return fsync(file_.get()) == 0 ? absl::OkStatus()
                                 : SystemError(errno, "cannot flush", temporary_);
}

// The file is closed last, so that it is marked as being written until it has its final name.
absl::Status AtomicFile::Commit(const WriteGuard& guard) {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(IfPermitted(guard, [this] {
    const DiskWait wait(path_);
    return rename(temporary_.c_str(), path_.c_str()) == 0
               ? absl::OkStatus()
               : SystemError(errno, "cannot rename to", path_);
  }));
  file_.Close();
  return SyncFolderOf(path_);
}

// The server of the file system makes a link in one step.
absl::StatusOr<bool> AtomicFile::CommitAsNew() {
  RETURN_IF_ERROR(Flush());
  if (link(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    if (MeansNoLinks(error)) return RenameAsNew();
    // If a request was sent twice, this is the answer to the second one: the link may exist.
    struct stat info = {};
    const bool linked = fstat(file_.get(), &info) == 0 && info.st_nlink > 1;
    if (!linked && error == EEXIST) return false;
    if (!linked) return SystemError(error, "cannot create", path_);
  }
  unlink(temporary_.c_str());
  file_.Close();
  RETURN_IF_ERROR(SyncFolderOf(path_));
  return true;
}

absl::StatusOr<bool> AtomicFile::RenameAsNew() {
  const char* const from = temporary_.c_str();
  if (renameat2(AT_FDCWD, from, AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return false;
    const bool unknown = errno == EINVAL || errno == ENOSYS;
    return SystemError(errno,
                       unknown ? "two processes could both create this file, because its file "
                                 "system has neither hard links nor exclusive renames; use "
                                 "another than that of"
                               : "cannot create",
                       path_);
  }
  file_.Close();
  RETURN_IF_ERROR(SyncFolderOf(path_));
  return true;
}

absl::Status SyncFolder(const std::string& folder) {
  const DiskWait wait(folder);
  const UniqueDescriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.open()) return SystemError(errno, "cannot open folder", folder);
  if (fsync(opened.get()) == 0 || MeansNoSyncOfFolders(errno)) return absl::OkStatus();
  return SystemError(errno, "cannot flush folder", folder);
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 const WriteGuard& guard) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file->Append(bytes));
  return file->Commit(guard);
}

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Intervals between attempts. The kernel's own wait for a lock has no deadline.
constexpr milliseconds kFirstRetry{1};
constexpr milliseconds kLastRetry{32};

// Describes a lock that covers the whole file. It belongs to an open file, not to a process:
// threads exclude each other, and closing another descriptor of the file does not release it.
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

// Whether `error` is what file systems without locks report, such as network file systems whose
// lock service does not run.
bool MeansNoLocks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
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
  const UniqueDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct flock whole = WholeFile();
  return file.open() && fcntl(file.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

}  // namespace grapevine
