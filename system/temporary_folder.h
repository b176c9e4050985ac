// A folder for files that exist no longer than their user.
#ifndef GRAPEVINE_SYSTEM_TEMPORARY_FOLDER_H_
#define GRAPEVINE_SYSTEM_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace grapevine {

// A folder in the system's place for temporary files (TMPDIR), readable by this user alone. The
// destructor removes it with everything in it. Thread-compatible.
class TemporaryFolder {
 public:
  // Creates a folder. Errors name the folder and the reason.
  static absl::StatusOr<std::unique_ptr<const TemporaryFolder>> Make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_TEMPORARY_FOLDER_H_
