#include "run/run_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "run/config_file.h"
#include "run/failure.h"
#include "run/output_file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

absl::Status InputError(std::string message) {
  return WithFailure(absl::InvalidArgumentError(std::move(message)), Failure::kInput);
}

absl::Status SystemError(const std::error_code& error, std::string_view what,
                         const std::string& path) {
  return WithFailure(
      absl::ErrnoToStatus(error.value(), absl::StrCat("cannot ", std::string(what), " ", path)),
      Failure::kOutput);
}

// A spec as part of a file name: "random:d=3" -> "random-d-3".
std::string PathPart(std::string spec) {
  constexpr size_t kMost = 40;
  if (spec.size() > kMost) spec.resize(kMost);
  for (char& c : spec) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  }
  return spec;
}

bool IsOurs(const fs::path& entry) {
  const std::string name = entry.filename().string();
  if (name == "metrics.jsonl" || name == "summary.json" || name == "statistics.json") return true;
  if (entry.extension() == ".safetensors") return true;
  constexpr std::string_view kNode = "node-";
  return name.starts_with(kNode) && name.size() > kNode.size() &&
         std::all_of(name.begin() + kNode.size(), name.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

// config.textproto goes last: until then this is still a run directory, should
// we be interrupted.
absl::Status RemoveEarlierRun(const std::string& run) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run, error)) {
    if (!IsOurs(entry.path())) continue;
    fs::remove_all(entry.path(), error);
    if (error) return SystemError(error, "remove", entry.path().string());
  }
  if (error) return SystemError(error, "read", run);
  fs::remove(ConfigPath(run), error);
  if (error) return SystemError(error, "remove", ConfigPath(run));
  return absl::OkStatus();
}

// What the folder of a run is before the run.
enum class Found { kNothing, kEmpty, kEarlierRun };

absl::StatusOr<Found> Inspect(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Found::kNothing;
  if (error) return SystemError(error, "look at", path);
  if (!fs::is_directory(status)) {
    return OutputError(absl::StrCat(path, " exists and is no folder; choose another --out"));
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return SystemError(error, "read", path);
  if (empty) return Found::kEmpty;
  if (!fs::exists(ConfigPath(path), error)) {
    return OutputError(absl::StrCat(
        path,
        " exists and is no run directory (it has no config.textproto); choose another --out"));
  }
  return Found::kEarlierRun;
}

// The folder itself, or the first above it that exists, must let us in.
absl::Status CheckWritable(const std::string& path) {
  fs::path folder = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) {
    return OutputError(
        absl::StrCat("cannot create ", path, ": ", folder.string(), " is no folder"));
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return SystemError(std::error_code(errno, std::generic_category()), "write to", folder.string());
}

absl::Status CheckOut(const std::string& path, bool overwrite) {
  const absl::StatusOr<Found> found = Inspect(path);
  if (!found.ok()) return found.status();
  if (*found == Found::kEarlierRun && !overwrite) {
    return OutputError(absl::StrCat(
        path, " holds an earlier run; choose another --out, or replace it with --overwrite"));
  }
  return CheckWritable(path);
}

absl::Status CreateFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return SystemError(error, "create", path);
  return absl::OkStatus();
}

absl::Status PrepareOut(const std::string& path, bool overwrite) {
  if (absl::Status status = CheckOut(path, overwrite); !status.ok()) return status;
  if (absl::Status status = CreateFolders(path); !status.ok()) return status;
  return overwrite ? RemoveEarlierRun(path) : absl::OkStatus();
}

// mkdir decides between runs that start in the same second.
absl::StatusOr<std::string> CreateDefault(const Config& config, absl::Time now) {
  const std::string first = DefaultRunPath(config, now);
  if (absl::Status status = CreateFolders(fs::path(first).parent_path().string()); !status.ok()) {
    return status;
  }
  constexpr int kMost = 1000;
  for (int i = 1; i <= kMost; ++i) {
    const std::string path = i == 1 ? first : absl::StrCat(first, "-", i);
    std::error_code error;
    if (fs::create_directory(path, error)) return path;
    if (error) return SystemError(error, "create", path);
  }
  return OutputError(absl::StrCat(first, " and ", kMost, " more exist; give --out"));
}

}  // namespace

std::string NodeDirectory(const std::string& run, int rank) {
  return absl::StrCat(run, "/node-", rank);
}
std::string ConfigPath(const std::string& run) { return absl::StrCat(run, "/config.textproto"); }
std::string MetricsPath(const std::string& folder) {
  return absl::StrCat(folder, "/metrics.jsonl");
}
std::string SummaryPath(const std::string& run) { return absl::StrCat(run, "/summary.json"); }
std::string StatisticsPath(const std::string& run) { return absl::StrCat(run, "/statistics.json"); }

std::string DefaultRunPath(const Config& config, absl::Time now) {
  return absl::StrCat("runs/", absl::FormatTime("%Y%m%d-%H%M%S", now, absl::UTCTimeZone()), "-",
                      PathPart(config.topology()), "-", PathPart(config.algorithm()), "-n",
                      config.nodes());
}

absl::Status CheckRunDirectory(const Config& config) {
  if (config.has_out()) return CheckOut(config.out(), config.overwrite());
  return CheckWritable("runs");
}

absl::StatusOr<std::string> CreateRunDirectory(const Config& config, absl::Time now) {
  std::string path = config.out();
  if (config.has_out()) {
    absl::Status status = PrepareOut(path, config.overwrite());
    if (!status.ok()) return status;
  } else {
    absl::StatusOr<std::string> fresh = CreateDefault(config, now);
    if (!fresh.ok()) return fresh.status();
    path = *std::move(fresh);
  }
  absl::Status written = WriteOutputFile(ConfigPath(path), ConfigFileText(config));
  if (!written.ok()) return written;
  return path;
}

absl::StatusOr<std::string> CreateNodeDirectory(const std::string& run, int rank) {
  std::string path = NodeDirectory(run, rank);
  if (absl::Status status = CreateFolders(path); !status.ok()) return status;
  return path;
}

absl::StatusOr<Summary> ReadSummary(const std::string& run) {
  const std::string path = SummaryPath(run);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return InputError(absl::StrCat("cannot read ", path));
  absl::StatusOr<Summary> summary = SummaryFromJson(text.str());
  if (summary.ok()) return summary;
  return InputError(absl::StrCat(path, ": ", std::string(summary.status().message())));
}

absl::Status WriteStatistics(const std::string& run, const Statistics& statistics) {
  return WriteOutputFile(StatisticsPath(run), ToJsonText(statistics));
}

absl::Status WriteSummary(const std::string& run, const Summary& summary) {
  return WriteOutputFile(SummaryPath(run), ToJsonText(summary));
}

}  // namespace grapevine
