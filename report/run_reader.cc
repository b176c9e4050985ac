#include "report/run_reader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<RunMetrics>> ReadMetrics(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<RunMetrics> metrics;
  size_t end;
  for (int line = 1; (end = rest.find('\n')) != rest.npos; ++line, rest.remove_prefix(end + 1)) {
    absl::StatusOr<RunMetrics> measured = RunMetricsFromJson(rest.substr(0, end));
    if (!measured.ok()) {
      return InputError(
          absl::StrCat(path, ":", line, ": ", std::string(measured.status().message())));
    }
    metrics.push_back(*std::move(measured));
  }
  if (metrics.empty()) return InputError(absl::StrCat(path, " has no measurements yet"));
  return metrics;
}

}  // namespace

absl::StatusOr<RecordedRun> ReadRun(const std::string& path) {
  ASSIGN_OR_RETURN(ConfigFile config, ReadConfigFile(ConfigPath(path)));
  ASSIGN_OR_RETURN(std::vector<RunMetrics> metrics, ReadMetrics(MetricsPath(path)));
  return RecordedRun{path, std::move(config.config), std::move(metrics)};
}

absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return InputError(absl::StrCat(path, " does not exist"));
  if (!fs::is_directory(path, error)) {
    return InputError(absl::StrCat(path, " is not a folder; name a run directory"));
  }
  if (IsRunDirectory(path)) return std::vector<std::string>{path};
  std::vector<std::string> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (IsRunDirectory(entry.path().string())) runs.push_back(entry.path().string());
  }
  if (error) return InputError(absl::StrCat("cannot read ", path, ": ", error.message()));
  if (runs.empty()) {
    return InputError(absl::StrCat(
        path, " is not a run directory and has none in it (there is no config.textproto)"));
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace grapevine
