// A lock that processes share, also of several machines, by a file on a disk that they share.
#ifndef GRAPEVINE_SYSTEM_FILE_LOCK_H_
#define GRAPEVINE_SYSTEM_FILE_LOCK_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "system/file_descriptor.h"

namespace grapevine {

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

#endif  // GRAPEVINE_SYSTEM_FILE_LOCK_H_
