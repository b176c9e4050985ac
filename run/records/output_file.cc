#include "run/records/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "system/file.h"

namespace grapevine {

absl::Status AsOutputStatus(absl::Status status) {
  return status.ok() ? status : WithFailure(std::move(status), Failure::kOutput);
}

absl::Status WriteOutputFile(const std::string& path, std::string_view bytes) {
  return AsOutputStatus(WriteFileAtomically(path, bytes));
}

namespace fs = std::filesystem;

absl::Status OutputFolderError(const std::error_code& error, std::string_view what,
                               const std::string& path) {
  return OutputError(absl::StrCat("cannot ", std::string(what), " ", path), error.value());
}

absl::StatusOr<FoundFolder> LookAtFolder(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return FoundFolder::kNothing;
  if (error) return OutputFolderError(error, "look at", path);
  if (!fs::is_directory(status)) {
    return OutputError(absl::StrCat(path, " exists and is not a folder; choose another --out"));
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return OutputFolderError(error, "read", path);
  return empty ? FoundFolder::kEmpty : FoundFolder::kFull;
}

absl::Status CheckWritable(const std::string& path) {
  fs::path folder = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) {
    return OutputError(
        absl::StrCat("cannot create ", path, ": ", folder.string(), " is not a folder"));
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return OutputFolderError(std::error_code(errno, std::generic_category()), "write to",
                           folder.string());
}

absl::Status CreateFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return OutputFolderError(error, "create", path);
  return absl::OkStatus();
}

// mkdir decides between callers in the same second.
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path) {
  const std::string above = fs::path(path).parent_path().string();
  if (!above.empty()) {
    RETURN_IF_ERROR(CreateFolders(above));
  }
  constexpr int kMaxFolders = 1000;
  for (int i = 1; i <= kMaxFolders; ++i) {
    const std::string candidate = i == 1 ? path : absl::StrCat(path, "-", i);
    std::error_code error;
    if (fs::create_directory(candidate, error)) return candidate;
    if (error) return OutputFolderError(error, "create", candidate);
  }
  return OutputError(absl::StrCat(path, " and ", kMaxFolders, " more exist; give --out"));
}

}  // namespace grapevine
