#include "report/run_reader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

// The complete lines of `path`, each as `parse` reads it.
template <typename Line>
absl::StatusOr<std::vector<Line>> ReadLines(const std::string& path,
                                            absl::StatusOr<Line> (*parse)(std::string_view)) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Line> lines;
  size_t end;
  for (int line = 1; (end = rest.find('\n')) != rest.npos; ++line, rest.remove_prefix(end + 1)) {
    absl::StatusOr<Line> parsed = parse(rest.substr(0, end));
    if (!parsed.ok()) {
      return InputError(
          absl::StrCat(path, ":", line, ": ", std::string(parsed.status().message())));
    }
    lines.push_back(*std::move(parsed));
  }
  return lines;
}

absl::StatusOr<std::vector<RunMetrics>> ReadMetrics(const std::string& path) {
  ASSIGN_OR_RETURN(std::vector<RunMetrics> metrics, ReadLines(path, &RunMetricsFromJson));
  if (metrics.empty()) return InputError(absl::StrCat(path, " has no measurements yet"));
  return metrics;
}

// All nodes except servers; all, too, for an algorithm that only the program that ran it knows.
absl::StatusOr<int> Workers(const Config& config) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(config.algorithm()));
  if (Algorithms().Find(spec.name) == nullptr) return config.nodes();
  return WorkerCount(config.algorithm(), config.nodes());
}

enum class Clock { kSimulated, kAny };

absl::StatusOr<SweptCell> ReadCell(const std::string& path, Clock clock) {
  ASSIGN_OR_RETURN(ConfigFile file, ReadConfigFile(ConfigPath(path)));
  ASSIGN_OR_RETURN(const Summary summary, ReadSummary(path));
  const bool wall = clock == Clock::kAny && summary.wall_time_s.has_value();
  const double seconds = (wall ? summary.wall_time_s : summary.simulated_time_s).value_or(0);
  if (summary.rounds <= 0 || seconds <= 0) {
    return InputError(absl::StrCat(SummaryPath(path),
                                   clock == Clock::kAny
                                       ? " has no time: the run ended before its first round"
                                       : " has no simulated time: name the folder of a sweep"));
  }
  ASSIGN_OR_RETURN(const int workers, Workers(file.config));
  return SweptCell{path, std::move(file.config), seconds / static_cast<double>(summary.rounds),
                   workers, summary.samples_per_s};
}

absl::StatusOr<std::vector<SweptCell>> ReadCells(std::span<const std::string> paths, Clock clock) {
  std::vector<SweptCell> cells;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> runs, FindRuns(path));
    for (const std::string& run : runs) {
      if (!IsFinishedRun(run)) continue;
      ASSIGN_OR_RETURN(SweptCell cell, ReadCell(run, clock));
      cells.push_back(std::move(cell));
    }
  }
  if (cells.empty()) {
    return InputError(absl::StrCat(paths.front(), " has no finished cell (no summary.json)"));
  }
  return cells;
}

}  // namespace

absl::StatusOr<RecordedRun> ReadRun(const std::string& path) {
  ASSIGN_OR_RETURN(ConfigFile config, ReadConfigFile(ConfigPath(path)));
  ASSIGN_OR_RETURN(std::vector<RunMetrics> metrics, ReadMetrics(MetricsPath(path)));
  return RecordedRun{path, std::move(config.config), std::move(metrics)};
}

absl::StatusOr<std::vector<NodeMetrics>> ReadLastOfNodes(const RecordedRun& run) {
  std::vector<NodeMetrics> last;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.path, error)) {
    const std::string path = MetricsPath(entry.path().string());
    std::error_code missing;
    if (!fs::exists(path, missing)) continue;
    ASSIGN_OR_RETURN(std::vector<NodeMetrics> metrics, ReadLines(path, &NodeMetricsFromJson));
    if (!metrics.empty()) last.push_back(std::move(metrics.back()));
  }
  if (error) return InputError(absl::StrCat("cannot read ", run.path, ": ", error.message()));
  return last;
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

bool IsFinishedRun(const std::string& path) {
  std::error_code error;
  return fs::exists(SummaryPath(path), error);
}

absl::StatusOr<std::vector<RecordedRun>> ReadRuns(std::span<const std::string> paths) {
  std::vector<RecordedRun> runs;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> found, FindRuns(path));
    for (const std::string& one : found) {
      ASSIGN_OR_RETURN(RecordedRun run, ReadRun(one));
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::optional<double> SweptCell::bandwidth() const {
  if (!config.has_bandwidth()) return std::nullopt;
  const absl::StatusOr<int64_t> bits = ParseBandwidth(config.bandwidth());
  return bits.ok() ? std::optional<double>(static_cast<double>(*bits)) : std::nullopt;
}

std::optional<double> SweptCell::latency() const {
  if (!config.has_latency()) return std::nullopt;
  const absl::StatusOr<std::chrono::nanoseconds> time = ParseDuration(config.latency());
  return time.ok() ? std::optional<double>(Seconds(*time)) : std::nullopt;
}

absl::StatusOr<std::vector<SweptCell>> ReadFinishedRuns(std::span<const std::string> paths) {
  return ReadCells(paths, Clock::kAny);
}

absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths) {
  return ReadCells(paths, Clock::kSimulated);
}

}  // namespace grapevine
