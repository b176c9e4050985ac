// Whole files: read through a memory mapping, written so that they appear whole or not at all.
#ifndef GRAPEVINE_SYSTEM_FILE_H_
#define GRAPEVINE_SYSTEM_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// A file read through a memory mapping: data sets and safetensors.
// Immutable after Open; safe to read from any thread.
class MappedFile {
 public:
  // Refuses folders and unreadable files with their names. An empty file is
  // an empty span.
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

// A file under construction beside its final name: written aside, fsynced, renamed. Unless Commit
// succeeds, nothing is visible at `path` and the temporary file is removed. Thread-compatible.
class AtomicFile {
 public:
  // Refuses a `path` that exists and is not a regular file. Errors name the path and the
  // reason.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Append(std::string_view bytes);
  // Flushes to the disk and renames over `path`; at most once, last.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor);

  std::string path_;
  std::string temporary_;
  int descriptor_;
};

// What was created, renamed or removed in a folder is on the disk.
absl::Status SyncFolder(const std::string& folder);

// The common case in one call.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_FILE_H_
