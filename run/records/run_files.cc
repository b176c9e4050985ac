#include "run/records/run_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNodePrefix = "node-";

bool IsDigit(unsigned char c) { return std::isdigit(c); }
bool IsLowerHex(unsigned char c) { return std::isdigit(c) || (c >= 'a' && c <= 'f'); }

// Whether `name` is a prefix, a number and a suffix: "node-12", "round-200.safetensors".
bool IsNumbered(std::string_view name, std::string_view prefix, std::string_view suffix = "") {
  if (name.size() <= prefix.size() + suffix.size()) return false;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return std::ranges::all_of(name, IsDigit);
}

template <size_t kCount>
bool IsAmong(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return std::ranges::find(names, name) != names.end();
}

using IsOwn = bool (*)(std::string_view name);

bool IsRuns(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "metrics.jsonl", "summary.json", "statistics.json", "trace.json",
      "chaos.jsonl",   kInputsFile,    kModelFile};
  return IsAmong(name, kNames) || name.starts_with(kEventFilePrefix);
}

bool IsNodes(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"metrics.jsonl", "profile.textproto",
                                                      "trace.bin", "events.rec", kModelFile};
  // The optimizer's state of a program that computes the node's gradients.
  const bool is_programs =
      name.starts_with("program-") && (name.ends_with(".npz") || name.ends_with(".tmp"));
  return IsAmong(name, kNames) || is_programs;
}

bool IsCheckpoints(std::string_view name) {
  return name == kManifestFile || name == kModelFile ||
         IsNumbered(name, kNodePrefix, ".safetensors");
}

absl::StatusOr<std::vector<fs::path>> EntriesOf(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) return OutputFolderError(error, "read", folder);
  return entries;
}

absl::Status RemoveOne(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? OutputFolderError(error, "remove", path.string()) : absl::OkStatus();
}

// Removes the run's own files from a folder below it, and the folder if nothing else was in it.
// Removes only the link if the folder is one: a link leads to what is not the run's.
absl::Status RemoveFolder(const fs::path& folder, IsOwn is_own) {
  std::error_code error;
  if (fs::is_symlink(folder, error)) return RemoveOne(folder);
  if (!fs::is_directory(folder, error)) return absl::OkStatus();
  RemoveAbandonedFiles(folder.string());
  ASSIGN_OR_RETURN(const std::vector<fs::path> entries, EntriesOf(folder.string()));
  for (const fs::path& entry : entries) {
    if (is_own(entry.filename().string())) RETURN_IF_ERROR(RemoveOne(entry));
  }
  fs::remove(folder, error);  // fails if it is not empty
  return absl::OkStatus();
}

absl::Status RemoveCheckpoints(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error) && !fs::is_symlink(folder, error)) {
    ASSIGN_OR_RETURN(const std::vector<fs::path> entries, EntriesOf(folder.string()));
    for (const fs::path& entry : entries) {
      if (!IsNumbered(entry.filename().string(), kCheckpointPrefix)) continue;
      RETURN_IF_ERROR(RemoveCheckpointFiles(entry.string()));
    }
  }
  return RemoveFolder(folder, [](std::string_view) { return false; });
}

absl::Status RemoveEntry(const fs::path& entry) {
  const std::string name = entry.filename().string();
  if (name == kCheckpointsFolder) return RemoveCheckpoints(entry);
  if (IsNumbered(name, kNodePrefix)) return RemoveFolder(entry, IsNodes);
  return IsRuns(name) ? RemoveOne(entry) : absl::OkStatus();
}

}  // namespace

absl::Status RemoveRunFiles(const std::string& run) {
  RETURN_IF_ERROR(RemoveResults(run));
  RemoveAbandonedFiles(run);
  ASSIGN_OR_RETURN(const std::vector<fs::path> entries, EntriesOf(run));
  for (const fs::path& entry : entries) RETURN_IF_ERROR(RemoveEntry(entry));
  return absl::OkStatus();
}

absl::Status RemoveRun(const std::string& run) {
  RETURN_IF_ERROR(RemoveRunFiles(run));
  return RemoveOne(ConfigPath(run));
}

// Removes the manifest first: what is left after an interruption is no checkpoint.
absl::Status RemoveCheckpointFiles(const std::string& checkpoint) {
  std::error_code error;
  if (!fs::is_symlink(checkpoint, error)) {
    RETURN_IF_ERROR(RemoveOne(fs::path(checkpoint) / kManifestFile));
  }
  return RemoveFolder(checkpoint, IsCheckpoints);
}

absl::StatusOr<std::vector<std::string>> NodeFilesIn(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> entries, EntriesOf(folder));
  std::vector<std::string> files;
  for (const fs::path& entry : entries) {
    std::error_code error;
    if (!IsNodes(entry.filename().string()) || !fs::is_regular_file(entry, error)) continue;
    if (fs::file_size(entry, error) > 0 && !error) files.push_back(entry.string());
  }
  return files;
}

bool IsUnfinished(std::string_view name) {
  constexpr std::string_view kTmp = ".tmp.";
  constexpr size_t kRandom = 16;
  const size_t tmp = name.rfind(kTmp);
  if (tmp == std::string_view::npos) return false;
  const std::string_view target = name.substr(0, tmp), writer = name.substr(tmp + kTmp.size());
  if (writer.size() == kRandom && std::ranges::all_of(writer, IsLowerHex)) return true;
  // Earlier versions put the number of the writer's process into the name. A user's notes.tmp.1 is
  // not such a file.
  const bool is_own =
      IsRuns(target) || IsNodes(target) || IsCheckpoints(target) || target == kConfigFile;
  return is_own && !writer.empty() && std::ranges::all_of(writer, IsDigit);
}

void RemoveAbandonedFiles(const std::string& folder) {
  const absl::StatusOr<std::vector<fs::path>> entries = EntriesOf(folder);
  if (!entries.ok()) return;  // opening the folder reports that
  for (const fs::path& entry : *entries) {
    if (IsUnfinished(entry.filename().string())) AtomicFile::RemoveIfAbandoned(entry.string());
  }
}

}  // namespace grapevine
