#include "system/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace grapevine {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<const TemporaryFolder>> TemporaryFolder::Make() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "grapevine-XXXXXX").string();
  if (error) return absl::UnavailableError("there is no folder for temporary files; set TMPDIR");
  if (mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", path));
  }
  return std::unique_ptr<const TemporaryFolder>(new TemporaryFolder(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace grapevine
