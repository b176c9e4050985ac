// Files that appear whole or not at all: written aside, fsynced, renamed.
#ifndef GRAPEVINE_SYSTEM_ATOMIC_FILE_H_
#define GRAPEVINE_SYSTEM_ATOMIC_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// A file under construction beside its final name. Unless Commit succeeds,
// nothing is visible at `path` and the temporary file is removed.
// Thread-compatible.
class AtomicFile {
 public:
  // What exists at `path` and is no regular file stays what it is. Errors name the path
  // and the reason.
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

// The common case in one call.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_ATOMIC_FILE_H_
