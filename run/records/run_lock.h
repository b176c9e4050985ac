// Who writes a run directory, or a sweep's: one process at a time. Its file, run.lock, says who.
//
// All errors are kOutput and name the folder.
#ifndef GRAPEVINE_RUN_RECORDS_RUN_LOCK_H_
#define GRAPEVINE_RUN_RECORDS_RUN_LOCK_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/records/output_file.h"
#include "system/file_lock.h"

namespace grapevine {

// Held while it lives, and no longer than its process, however that ends: the file that a killed
// one has left holds nobody up. Thread-compatible.
class RunLock {
 public:
  // Of an existing folder. Refused at once, with its process, host and time, if another one has it.
  // On a file system without locks everybody gets it.
  static absl::StatusOr<std::unique_ptr<const RunLock>> Take(const std::string& folder,
                                                             absl::Time now);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::string path, std::optional<FileLock> lock);

  const std::string path_;
  const std::optional<FileLock> lock_;
};

// One that this process alone writes, until it lets go of the lock.
struct LockedFolder {
  std::string path;
  std::unique_ptr<const RunLock> lock;
};
absl::StatusOr<LockedFolder> LockFolder(std::string path, absl::Time now);

// Take's refusal, if there would be one; touches nothing.
absl::Status CheckNobodyWrites(const std::string& folder);

// What is in a folder besides its lock. An error if it is not a folder.
absl::StatusOr<FoundFolder> LookBesideLock(const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_LOCK_H_
