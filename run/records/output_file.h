// A command's output files, each written completely or not at all, and the folders that hold
// them.
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

// The same status with Failure::kOutput; OK stays OK.
absl::Status AsOutputStatus(absl::Status status);

// Writes a temporary file, fsyncs it and renames it.
absl::Status WriteOutputFile(const std::string& path, std::string_view bytes);

// "cannot remove runs/ring: Permission denied".
absl::Status OutputFolderError(const std::error_code& error, std::string_view what,
                               const std::string& path);

// What exists at a path before anything is written.
enum class FoundFolder { kNothing, kEmpty, kFull };

// An error if it is not a folder.
absl::StatusOr<FoundFolder> LookAtFolder(const std::string& path);

// Whether files can be created in the folder or, if it does not exist, in its nearest existing
// ancestor.
absl::Status CheckWritable(const std::string& path);

// With its ancestors; it may exist.
absl::Status CreateFolders(const std::string& path);

// Creates a folder that did not exist before: `path`, else `path`-2, `path`-3 ...
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
