// Whole files, read through a memory mapping and written so that they appear whole or not at all;
// and files as locks.
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

// A file read through a memory mapping: data sets and safetensors.
// Immutable after Open; safe to read from any thread.
class MappedFile {
 public:
  // Refuses folders, pipes and unreadable files with their names, and waits for nobody. An empty
  // file is an empty span.
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

// The bytes of a file that another process may be writing; errors as MappedFile::Open's.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Carries out a change of a file that others see (a rename, an append) if this process may still
// make it at this moment, else returns why not; it may wait for the right. Empty: nobody asks.
using WriteGuard = std::function<absl::Status(const std::function<absl::Status()>& change)>;
inline absl::Status IfPermitted(const WriteGuard& guard,
                                const std::function<absl::Status()>& change) {
  return guard ? guard(change) : change();
}
// Why such a change failed: that this process may not make it any more, rather than what it found
// of files that others may have changed meanwhile.
inline absl::Status WhyItFailed(const WriteGuard& guard, const absl::Status& failed) {
  const absl::Status permitted = IfPermitted(guard, [] { return absl::OkStatus(); });
  return permitted.ok() ? failed : permitted;
}

// A file under construction beside its final name: written aside as PATH.tmp.RANDOM, fsynced,
// renamed. Unless Commit succeeds, nothing is visible at `path` and the temporary file is removed.
// Who writes holds flock() on the temporary file until then: one that nobody holds was left by a
// writer that died. Thread-compatible.
class AtomicFile {
 public:
  // Refuses a `path` that exists and is not a regular file. Errors name the path and the
  // reason.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Append(std::string_view bytes);
  // Flushes to the disk and renames over `path`, which `guard` allows; at most once, last.
  absl::Status Commit(const WriteGuard& guard = {});

  // The same, unless there is a file at `path`: false then, by the word of the file server itself,
  // whatever this machine remembers of the folder.
  absl::StatusOr<bool> CommitAsNew();

  // Removes PATH.tmp.*, if its writer has gone; whether it did. Where nobody can tell (a file
  // system without locks), it stays.
  static bool RemoveIfAbandoned(const std::string& temporary);

 private:
  AtomicFile(std::string path, std::string temporary, UniqueDescriptor file);
  absl::Status Flush();

  std::string path_;
  std::string temporary_;
  UniqueDescriptor file_;  // closed once it has its name
};

// What was created, renamed or removed in a folder is on the disk, where its file system can say
// so.
absl::Status SyncFolder(const std::string& folder);

// The common case in one call.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 const WriteGuard& guard = {});

// A lock that processes share, also of several machines, by a file on a disk that they share.
//
// Held until destruction. The kernel releases it when the process ends, however it ends.
// Thread-compatible; two locks of one process exclude each other, too. The holder may remove the
// file: the next one makes it again.
class FileLock {
 public:
  // Creates the file if there is none. DeadlineExceeded names it when somebody else holds it for so
  // long; Unimplemented where the file system has no locks; other errors name it with the system's
  // reason.
  static absl::StatusOr<FileLock> Take(const std::string& path,
                                       std::chrono::steady_clock::time_point deadline);

  // Removes the file at `path`, if it is the one that is held: not another's that has its place.
  void RemoveFile(const std::string& path) const;

  // Whether somebody holds it, as far as this process can see; creates and takes nothing.
  static bool IsHeld(const std::string& path);

 private:
  explicit FileLock(UniqueDescriptor file) : file_(std::move(file)) {}

  UniqueDescriptor file_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_FILE_H_
