// Reads whole files through a memory mapping, writes files that appear whole or not at all, and
// uses files as locks.
#ifndef GRAPEVINE_SYSTEM_FILE_H_
#define GRAPEVINE_SYSTEM_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file_descriptor.h"

namespace grapevine {

// A file read through a memory mapping, such as a data set or a safetensors file.
// Immutable after Open; safe to read from any thread.
class MappedFile {
 public:
  // Maps the file at `path`. Refuses folders, pipes and unreadable files with errors that name
  // them, and never waits for the writer of a pipe. An empty file is an empty span.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const uint8_t* data_;
  size_t size_;
};

// Returns the bytes of a file, which another process may be writing. Refuses the same files as
// MappedFile::Open.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Makes a change to a file that others see (a rename, an append) if this process may make it at
// this moment, and otherwise returns why it may not. A guard may wait for the right to write. An
// empty guard permits every change.
using WriteGuard = std::function<absl::Status(const std::function<absl::Status()>& change)>;
inline absl::Status IfPermitted(const WriteGuard& guard,
                                const std::function<absl::Status()>& change) {
  return guard ? guard(change) : change();
}
// Returns why a change under `guard` failed. If this process may no longer write, that is the
// reason; otherwise it is `failed`. A process that has lost the right may find files that others
// have changed, so that `failed` would mislead.
inline absl::Status WhyItFailed(const WriteGuard& guard, const absl::Status& failed) {
  const absl::Status permitted = IfPermitted(guard, [] { return absl::OkStatus(); });
  return permitted.ok() ? failed : permitted;
}

// A file under construction. It is written as PATH.tmp.RANDOM beside its final name, fsynced, and
// renamed. Unless Commit succeeds, nothing is visible at `path` and the temporary file is removed.
// The writer holds flock() on the temporary file until then: a temporary file without a lock was
// left by a writer that died. Thread-compatible.
class AtomicFile {
 public:
  // Creates the temporary file. Refuses a `path` that exists and is not a regular file. Errors name
  // the path and the reason.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Append(std::string_view bytes);
  // Flushes the file to the disk and renames it over `path` under `guard`. Must be the last call,
  // and be made at most once.
  absl::Status Commit(const WriteGuard& guard = {});

  // Commits like Commit, unless a file exists at `path`; returns false in that case. The file
  // server itself decides whether a file exists, whatever this machine has cached of the folder. An
  // error where the file system can neither link files nor rename one to a new name only.
  absl::StatusOr<bool> CommitAsNew();

  // Removes `temporary` (PATH.tmp.*) if its writer is gone, and returns whether it removed it. The
  // file stays if the file system has no locks, because it cannot show whether the writer is gone.
  static bool RemoveIfAbandoned(const std::string& temporary);

 private:
  AtomicFile(std::string path, std::string temporary, UniqueDescriptor file);
  absl::Status Flush();
  absl::StatusOr<bool> RenameAsNew();

  std::string path_;
  std::string temporary_;
  UniqueDescriptor file_;  // closed once the file has its final name
};

// Flushes to the disk what was created, renamed or removed in `folder`. Succeeds without a flush if
// the file system cannot flush folders.
absl::Status SyncFolder(const std::string& folder);

// Creates, appends to and commits an AtomicFile in one call.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 const WriteGuard& guard = {});

// A lock between processes, also on several machines, through a file on a disk that they share.
//
// The lock is held until destruction. The kernel releases it when the process ends, however it
// ends. Two locks of one process exclude each other as well. The holder may remove the file; the
// next holder creates it again. Thread-compatible.
class FileLock {
 public:
  // Takes the lock and creates the file if it does not exist. Returns DeadlineExceeded if another
  // holder keeps the lock until `deadline`, and Unimplemented if the file system has no locks;
  // other errors have the system's reason. All errors name the file.
  static absl::StatusOr<FileLock> Take(const std::string& path,
                                       std::chrono::steady_clock::time_point deadline);

  // Removes the file at `path` if this lock holds it. Leaves another file that has taken its place.
  void RemoveFile(const std::string& path) const;

  // Whether the lock is held, as far as this process can see. Neither creates the file nor takes
  // the lock.
  static bool IsHeld(const std::string& path);

 private:
  explicit FileLock(UniqueDescriptor file) : file_(std::move(file)) {}

  UniqueDescriptor file_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_FILE_H_
