// Folders that commands put their files into.
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_OUTPUT_FOLDER_H_
#define GRAPEVINE_RUN_RECORDS_OUTPUT_FOLDER_H_

#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

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

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FOLDER_H_
