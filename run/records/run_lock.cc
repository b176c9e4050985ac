#include "run/records/run_lock.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/printable.h"
#include "base/status_macros.h"
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

// Whoever holds it may not have said so yet.
std::string Holder(const std::string& path) {
  constexpr size_t kLongest = 300;
  std::string line;
  std::getline(std::ifstream(path), line);
  return line.empty() ? "another process" : Printable(line, kLongest);
}

absl::Status IsBeingWritten(const std::string& folder) {
  return OutputError(absl::StrCat(folder, " is being written by ", Holder(LockPath(folder)),
                                  "; wait until it ends, end it, or choose another --out"));
}

}  // namespace

RunLock::RunLock(std::string path, std::optional<FileLock> lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

// Before it is released, so that nobody removes the next one's.
RunLock::~RunLock() {
  if (lock_) lock_->RemoveFile(path_);
}

absl::StatusOr<std::unique_ptr<const RunLock>> RunLock::Take(const std::string& folder,
                                                             absl::Time now) {
  std::string path = LockPath(folder);
  absl::StatusOr<FileLock> lock = FileLock::Take(path, std::chrono::steady_clock::now());
  if (absl::IsDeadlineExceeded(lock.status())) return IsBeingWritten(folder);
  if (absl::IsUnimplemented(lock.status())) {
    return std::unique_ptr<const RunLock>(new RunLock(std::move(path), std::nullopt));
  }
  RETURN_IF_ERROR(AsOutputStatus(lock.status()));
  std::unique_ptr<const RunLock> held(new RunLock(path, *std::move(lock)));
  // Into the file that is locked, not in its place.
  std::ofstream file(path);
  file << Myself(now) << std::endl;
  if (!file) return OutputError(absl::StrCat("cannot write ", path));
  return held;
}

absl::StatusOr<LockedFolder> LockFolder(std::string path, absl::Time now) {
  ASSIGN_OR_RETURN(auto lock, RunLock::Take(path, now));
  return LockedFolder{std::move(path), std::move(lock)};
}

absl::Status CheckNobodyWrites(const std::string& folder) {
  return FileLock::IsHeld(LockPath(folder)) ? IsBeingWritten(folder) : absl::OkStatus();
}

absl::StatusOr<FoundFolder> LookBesideLock(const std::string& folder) {
  ASSIGN_OR_RETURN(const FoundFolder found, LookAtFolder(folder));
  if (found != FoundFolder::kFull) return found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() != kLock) return FoundFolder::kFull;
  }
  if (error) return OutputFolderError(error, "read", folder);
  return FoundFolder::kEmpty;
}

}  // namespace grapevine
