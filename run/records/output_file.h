// Files that a command leaves, written whole or not at all, and the folders that they go
// to.
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
#define GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_

#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// The same status as one of Failure::kOutput; OK stays OK.
absl::Status AsOutputStatus(absl::Status status);

// Written aside, fsynced, renamed. Errors are kOutput and name the path.
absl::Status WriteOutputFile(const std::string& path, std::string_view bytes);

// "cannot remove runs/ring: Permission denied".
absl::Status OutputFolderError(const std::error_code& error, std::string_view what,
                               const std::string& path);

// What there is at a path before anything is written.
enum class FoundFolder { kNothing, kEmpty, kFull };

// An error when it is no folder.
absl::StatusOr<FoundFolder> LookAtFolder(const std::string& path);

// Whether the folder, or the first above it that exists, lets files be made in it.
absl::Status CheckWritable(const std::string& path);

// With those above it; it may exist.
absl::Status CreateFolders(const std::string& path);

// A folder that nobody else has: `path`, or `path`-2, `path`-3 ... where that exists.
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
