#include "report/run_reader.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/records/run_directory.h"
#include "run/records/sweep_directory.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

// Returns the complete lines of `path`, each as `parse` reads it.
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

// Returns the error of a run that is as it should be, but has nothing to show: kNotFound.
absl::Status NothingToShow(const std::string& path, std::string_view why) {
  return WithFailure(absl::NotFoundError(absl::StrCat(path, std::string(why))), Failure::kInput);
}

absl::StatusOr<std::vector<RunMetrics>> ReadMetrics(const std::string& path) {
  std::vector<RunMetrics> metrics;
  std::error_code error;
  if (fs::exists(path, error)) {
    ASSIGN_OR_RETURN(metrics, ReadLines(path, &RunMetricsFromJson));
  }
  if (metrics.empty()) return NothingToShow(path, " has no measurements yet");
  return metrics;
}

// Returns the runs at `paths` that are `wanted`, each as `read` reads it. A run in a folder that
// has nothing to show, such as a cell of a sweep that diverged at once, is left out with a note; it
// is an error if no other run is left, or if the run was named itself.
template <typename Run>
absl::StatusOr<std::vector<Run>> ReadEach(
    std::span<const std::string> paths, const std::function<bool(const std::string&)>& wanted,
    const std::function<absl::StatusOr<Run>(const std::string&)>& read) {
  std::vector<Run> runs;
  std::vector<absl::Status> left_out;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> found, FindRuns(path));
    for (const std::string& one : found) {
      if (!wanted(one)) continue;
      absl::StatusOr<Run> run = read(one);
      if (run.ok()) {
        runs.push_back(*std::move(run));
      } else if (one != path && absl::IsNotFound(run.status())) {
        left_out.push_back(run.status());
      } else {
        return run.status();
      }
    }
  }
  if (runs.empty() && !left_out.empty()) return left_out.front();
  for (const absl::Status& why : left_out) LOG(WARNING) << "left out: " << why.message();
  return runs;
}

// Returns the number of all nodes except servers; of all nodes, too, for an algorithm that only the
// program knows that ran it.
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
  if (clock == Clock::kSimulated && !summary.simulated_time_s) {
    return InputError(
        absl::StrCat(SummaryPath(path), " has no simulated time: name the folder of a sweep"));
  }
  if (summary.rounds <= 0 || seconds <= 0) {
    return NothingToShow(SummaryPath(path), " has no time: the run ended before its first round");
  }
  ASSIGN_OR_RETURN(const int workers, Workers(file.config));
  return SweptCell{path, std::move(file.config), seconds / static_cast<double>(summary.rounds),
                   workers, summary.samples_per_s};
}

absl::StatusOr<SweptCell> ReadSimulatedCell(const std::string& path) {
  return ReadCell(path, Clock::kSimulated);
}

absl::StatusOr<std::vector<SweptCell>> ReadCells(
    std::span<const std::string> paths,
    const std::function<absl::StatusOr<SweptCell>(const std::string&)>& read) {
  ASSIGN_OR_RETURN(std::vector<SweptCell> cells, ReadEach<SweptCell>(paths, &IsFinishedRun, read));
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

absl::StatusOr<std::vector<NodeMetrics>> ReadNode(const RecordedRun& run, int rank) {
  const std::string path = MetricsPath(NodeDirectory(run.path, rank));
  std::error_code missing;
  if (!fs::exists(path, missing)) return std::vector<NodeMetrics>();
  return ReadLines(path, &NodeMetricsFromJson);
}

namespace {

// Sorts runs by the sweep's lists, in which the user has put first what comes first.
std::vector<std::string> InOrderOfTheSweep(std::vector<std::string> runs,
                                           const std::string& folder) {
  const std::vector<std::string> labels = CellLabels(folder);
  std::map<std::string, size_t> places;
  for (const std::string& label : labels) places.emplace(label, places.size());
  std::ranges::stable_sort(runs, {}, [&](const std::string& run) {
    const auto place = places.find(fs::path(run).filename().string());
    return place == places.end() ? places.size() : place->second;
  });
  return runs;
}

}  // namespace

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
  std::ranges::sort(runs);
  return InOrderOfTheSweep(std::move(runs), path);
}

bool IsFinishedRun(const std::string& path) {
  std::error_code error;
  return fs::exists(SummaryPath(path), error);
}

absl::StatusOr<std::optional<Summary>> ReadSummaryIfFinished(const std::string& path) {
  if (!IsFinishedRun(path)) return std::nullopt;
  return ReadSummary(path);
}

RunMetrics Outcome(const RecordedRun& run, const std::optional<Summary>& summary) {
  RunMetrics outcome;
  for (const RunMetrics& metrics : run.metrics) Remember(metrics, &outcome);
  if (summary && summary->test_accuracy) outcome.test_accuracy = summary->test_accuracy;
  return outcome;
}

absl::StatusOr<std::vector<RecordedRun>> ReadRuns(std::span<const std::string> paths) {
  return ReadEach<RecordedRun>(
      paths, [](const std::string&) { return true; }, &ReadRun);
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
  return ReadCells(paths, [](const std::string& path) { return ReadCell(path, Clock::kAny); });
}

absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths) {
  return ReadCells(paths, &ReadSimulatedCell);
}

absl::StatusOr<std::vector<SweptCell>> ReadMeasuredSweep(std::span<const std::string> paths) {
  return ReadCells(paths, [](const std::string& path) -> absl::StatusOr<SweptCell> {
    RETURN_IF_ERROR(ReadMetrics(MetricsPath(path)).status());
    return ReadSimulatedCell(path);
  });
}

}  // namespace grapevine
