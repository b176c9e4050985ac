#include "run/records/run_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"
#include "system/file.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

constexpr char kLock[] = "run.lock";

std::string LockPath(const std::string& folder) { return absl::StrCat(folder, "/", kLock); }

std::string Myself(absl::Time now) {
  return absl::StrCat("process ", getpid(), " on ", HostNames().front(), " since ",
                      absl::FormatTime("%Y-%m-%d %H:%M:%S", now, absl::UTCTimeZone()), " UTC");
}

// Names the holder of the lock, which may not have written its name yet.
std::string Holder(const std::string& path) {
  constexpr size_t kLongest = 300;
  const std::string text = ReadFile(path).value_or("");
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "another process" : Printable(line, kLongest);
}

absl::Status IsBeingWritten(const std::string& folder) {
  return OutputError(absl::StrCat(folder, " is being written by ", Holder(LockPath(folder)),
                                  "; wait until it ends, end it, or choose another --out"));
}

}  // namespace

RunLock::RunLock(std::string path, std::optional<FileLock> lock, std::string text)
    : path_(std::move(path)), lock_(std::move(lock)), text_(std::move(text)) {}

// Removes the file before the lock is released: later it could be the next holder's.
RunLock::~RunLock() {
  if (lock_) lock_->RemoveFile(path_);
}

absl::StatusOr<std::unique_ptr<const RunLock>> RunLock::Take(const std::string& folder,
                                                             absl::Time now) {
  std::string path = LockPath(folder);
  absl::StatusOr<FileLock> lock = FileLock::Take(path, std::chrono::steady_clock::now());
  if (absl::IsDeadlineExceeded(lock.status())) return IsBeingWritten(folder);
  if (absl::IsUnimplemented(lock.status())) {
    return std::unique_ptr<const RunLock>(new RunLock(std::move(path), std::nullopt, ""));
  }
  RETURN_IF_ERROR(AsOutputStatus(lock.status()));
  std::unique_ptr<const RunLock> held(
      new RunLock(path, *std::move(lock), absl::StrCat(Myself(now), "\n")));
  // Writes into the locked file. A new file in its place would not be locked.
  std::ofstream file(path);
  file << held->text() << std::flush;
  if (!file) return OutputError(absl::StrCat("cannot write ", path));
  return held;
}

absl::StatusOr<LockedFolder> LockFolder(std::string path, absl::Time now) {
  ASSIGN_OR_RETURN(auto lock, RunLock::Take(path, now));
  RemoveAbandonedFiles(path);
  return LockedFolder{std::move(path), std::move(lock)};
}

absl::Status CheckNobodyWrites(const std::string& folder) {
  return FileLock::IsHeld(LockPath(folder)) ? IsBeingWritten(folder) : absl::OkStatus();
}

namespace {

// Returns what is in a folder besides files of these names and unfinished ones.
absl::StatusOr<FoundFolder> LookBeside(const std::string& folder,
                                       std::initializer_list<std::string_view> names) {
  ASSIGN_OR_RETURN(const FoundFolder found, LookAtFolder(folder));
  if (found != FoundFolder::kFull) return found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(names, name) == names.end() && !IsUnfinished(name)) {
      return FoundFolder::kFull;
    }
  }
  if (error) return OutputFolderError(error, "read", folder);
  return FoundFolder::kEmpty;
}

}  // namespace

absl::StatusOr<FoundFolder> LookBesideLock(const std::string& folder) {
  return LookBeside(folder, {kLock});
}

namespace {

// A spec as part of a file name: "random:d=3" -> "random-d-3".
std::string PathPart(std::string spec) {
  constexpr size_t kMaxLength = 40;
  if (spec.size() > kMaxLength) spec.resize(kMaxLength);
  for (char& c : spec) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  }
  return spec;
}

std::string HoldsARun(const std::string& path) {
  std::error_code error;
  const bool goes_on = fs::exists(fs::path(path) / kCheckpointsFolder, error);
  return absl::StrCat(path, " holds an earlier run; choose another --out, ",
                      goes_on ? absl::StrCat("go on with it by --resume=", path, ", ") : "",
                      "or replace it with --overwrite");
}

absl::Status CheckContent(const std::string& path, bool overwrite) {
  ASSIGN_OR_RETURN(const FoundFolder found, LookBesideLock(path));
  if (found == FoundFolder::kFull && !IsRunDirectory(path)) {
    return OutputError(absl::StrCat(
        path,
        " exists and is not a run directory (it has no config.textproto); choose another --out"));
  }
  if (found == FoundFolder::kFull && !overwrite) return OutputError(HoldsARun(path));
  return absl::OkStatus();
}

absl::Status CheckOut(const std::string& path, bool overwrite) {
  RETURN_IF_ERROR(CheckNobodyWrites(path));
  RETURN_IF_ERROR(CheckContent(path, overwrite));
  return CheckWritable(path);
}

absl::StatusOr<LockedFolder> PrepareOut(const std::string& path, bool overwrite, absl::Time now) {
  RETURN_IF_ERROR(CheckOut(path, overwrite));
  RETURN_IF_ERROR(CreateFolders(path));
  ASSIGN_OR_RETURN(LockedFolder locked, LockFolder(path, now));
  // Checks again: another run may have written here before the lock was taken.
  RETURN_IF_ERROR(CheckContent(path, overwrite));
  return locked;
}

absl::StatusOr<LockedFolder> PrepareDefaultOut(const Config& config, absl::Time now) {
  ASSIGN_OR_RETURN(std::string path, CreateFreshFolder(DefaultRunPath(config, now)));
  return LockFolder(std::move(path), now);
}

}  // namespace

std::string NodeDirectory(const std::string& run, int rank) {
  return absl::StrCat(run, "/node-", rank);
}
std::string ConfigPath(const std::string& run) { return absl::StrCat(run, "/", kConfigFile); }
std::string MetricsPath(const std::string& folder) {
  return absl::StrCat(folder, "/metrics.jsonl");
}
std::string SummaryPath(const std::string& run) { return absl::StrCat(run, "/summary.json"); }
std::string StatisticsPath(const std::string& run) { return absl::StrCat(run, "/statistics.json"); }
std::string TracePath(const std::string& run) { return absl::StrCat(run, "/trace.json"); }
std::string ModelPath(const std::string& folder) { return absl::StrCat(folder, "/", kModelFile); }

std::string DefaultRunPath(const Config& config, absl::Time now) {
  return absl::StrCat("runs/", absl::FormatTime("%Y%m%d-%H%M%S", now, absl::UTCTimeZone()), "-",
                      PathPart(config.topology()), "-", PathPart(config.algorithm()), "-n",
                      config.nodes());
}

bool IsRunDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(ConfigPath(path), error);
}

absl::Status CheckRunDirectory(const Config& config) {
  if (config.has_out()) return CheckOut(config.out(), config.overwrite());
  return CheckWritable("runs");
}

namespace {

// Whether a file will lie in the run's own folder, which may not exist yet.
bool IsInRunDirectory(const std::string& path, const Config& config) {
  const auto folder_of = [](const fs::path& file) { return file.lexically_normal().parent_path(); };
  return config.has_out() && folder_of(path) == folder_of(fs::path(config.out()) / "file");
}

}  // namespace

absl::Status CheckRecordings(const Config& config) {
  for (const std::string& path : {config.trace(), config.profile(), config.record()}) {
    if (path.empty() || IsInRunDirectory(path, config)) continue;
    // Creates the file and abandons it.
    if (const auto file = AtomicFile::Create(path); !file.ok()) {
      return AsOutputStatus(file.status());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RunReservation> RunReservation::Make(const Config& config, absl::Time now) {
  ASSIGN_OR_RETURN(LockedFolder run, config.has_out()
                                         ? PrepareOut(config.out(), config.overwrite(), now)
                                         : PrepareDefaultOut(config, now));
  RunReservation reservation(std::move(run));
  reservation.config_ = config;
  return reservation;
}

// config.textproto exists all the time: after an interruption this is still a run directory.
absl::Status RunReservation::Begin() {
  const std::optional<Config> config = std::exchange(config_, std::nullopt);
  if (!config) return absl::OkStatus();
  if (config->overwrite()) RETURN_IF_ERROR(RemoveRunFiles(path()));
  begun_ = true;
  return WriteOutputFile(ConfigPath(path()), ConfigFileText(*config));
}

// A folder with files of others stays a run directory, which may be replaced again.
absl::Status RunReservation::Undo() {
  if (!std::exchange(begun_, false)) return absl::OkStatus();
  RETURN_IF_ERROR(RemoveRunFiles(path()));
  ASSIGN_OR_RETURN(const FoundFolder others, LookBeside(path(), {kLock, kConfigFile}));
  return others == FoundFolder::kFull ? absl::OkStatus() : RemoveRun(path());
}

absl::StatusOr<LockedFolder> CreateRunDirectory(const Config& config, absl::Time now) {
  ASSIGN_OR_RETURN(RunReservation reservation, RunReservation::Make(config, now));
  RETURN_IF_ERROR(reservation.Begin());
  return std::move(reservation).Release();
}

absl::StatusOr<std::string> CreateNodeDirectory(const std::string& run, int rank) {
  std::string path = NodeDirectory(run, rank);
  RETURN_IF_ERROR(CreateFolders(path));
  RemoveAbandonedFiles(path);
  return path;
}

absl::StatusOr<std::string> PrepareNodeDirectory(const std::string& run, int rank, bool overwrite) {
  ASSIGN_OR_RETURN(std::string path, CreateNodeDirectory(run, rank));
  ASSIGN_OR_RETURN(const std::vector<std::string> files, NodeFilesIn(path));
  if (!files.empty() && !overwrite) {
    return OutputError(absl::StrCat(
        path, " holds an earlier run; choose another --out, or replace it with --overwrite"));
  }
  for (const std::string& file : files) {
    std::error_code error;
    fs::remove(file, error);
    if (error) return OutputFolderError(error, "remove", file);
  }
  return path;
}

namespace {

// Parses a whole file with `parse`.
template <typename Record>
absl::StatusOr<Record> ReadRecord(const std::string& path,
                                  absl::StatusOr<Record> (*parse)(std::string_view)) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return InputError(std::string(text.status().message()));
  absl::StatusOr<Record> record = parse(*text);
  if (record.ok()) return record;
  return InputError(path, std::string(record.status().message()));
}

}  // namespace

bool HasResults(const std::string& run) {
  std::error_code error;
  return fs::exists(SummaryPath(run), error);
}

absl::Status RemoveResults(const std::string& run) {
  for (const std::string& path : {SummaryPath(run), StatisticsPath(run)}) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return OutputFolderError(error, "remove", path);
  }
  return AsOutputStatus(SyncFolder(run));
}

absl::StatusOr<Summary> ReadSummary(const std::string& run) {
  return ReadRecord(SummaryPath(run), &SummaryFromJson);
}

absl::StatusOr<std::optional<RecordedStatistics>> ReadStatisticsIfAny(const std::string& run) {
  const std::string path = StatisticsPath(run);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  ASSIGN_OR_RETURN(RecordedStatistics statistics, ReadRecord(path, &StatisticsFromJson));
  return statistics;
}

std::string ReadInputs(const std::string& run) {
  return ReadFile(absl::StrCat(run, "/", kInputsFile)).value_or("");
}

absl::Status WriteInputs(const std::string& run, const std::string& text) {
  return WriteOutputFile(absl::StrCat(run, "/", kInputsFile), text);
}

absl::Status WriteStatistics(const std::string& run, const Statistics& statistics) {
  return WriteOutputFile(StatisticsPath(run), ToJsonText(statistics));
}

absl::Status WriteSummary(const std::string& run, const Summary& summary, const WriteGuard& guard) {
  return WriteOutputFile(SummaryPath(run), ToJsonText(summary), guard);
}

}  // namespace grapevine
