#include "run/sweep_directory.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "run/config_file.h"
#include "run/output_file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

std::string MarkerPath(const std::string& sweep) { return absl::StrCat(sweep, "/sweep.textproto"); }

}  // namespace

absl::StatusOr<std::string> PrepareSweepDirectory(const Config& config, absl::Time now) {
  const std::string path =
      config.has_out()
          ? config.out()
          : absl::StrCat("runs/", absl::FormatTime("%Y%m%d-%H%M%S", now, absl::UTCTimeZone()),
                         "-sweep");
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return OutputError(absl::StrCat("cannot create ", path, ": ", error.message()));
  const bool earlier = fs::exists(MarkerPath(path), error);
  const bool empty = fs::is_empty(path, error);
  if (error) return OutputError(absl::StrCat("cannot look into ", path, ": ", error.message()));
  if (!earlier && !empty) {
    return OutputError(absl::StrCat(
        path, " is neither empty nor an earlier sweep's folder; choose another --out"));
  }
  absl::Status marked = WriteOutputFile(MarkerPath(path), ConfigFileText(config));
  if (!marked.ok()) return marked;
  return path;
}

std::string SweepCsvPath(const std::string& sweep) { return absl::StrCat(sweep, "/sweep.csv"); }

absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text) {
  absl::Status status = WriteOutputFile(SweepCsvPath(sweep), csv);
  if (!status.ok()) return status;
  return WriteOutputFile(absl::StrCat(sweep, "/sweep.txt"), text);
}

}  // namespace grapevine
