#include "run/records/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "system/disk_wait.h"
#include "system/file.h"

namespace grapevine {

absl::Status AsOutputStatus(absl::Status status) {
  if (status.ok() || FailureOf(status) != Failure::kOther) return status;
  return WithFailure(std::move(status), Failure::kOutput);
}

absl::Status WriteOutputFile(const std::string& path, std::string_view bytes,
                             const WriteGuard& guard) {
  return AsOutputStatus(WriteFileAtomically(path, bytes, guard));
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
  std::error_code error;
  fs::path folder = fs::absolute(path, error);
  if (error) {
    return OutputError(absl::StrCat("cannot create ", path,
                                    ": the current folder is gone; start in one that exists, or "
                                    "give --out as an absolute path"));
  }
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) {
    return OutputError(
        absl::StrCat("cannot create ", path, ": ", folder.string(), " is not a folder"));
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return OutputError(absl::StrCat("cannot write to ", folder.string(), " (choose another --out)"),
                     errno);
}

absl::Status CreateFolders(const std::string& path) {
  const DiskWait wait(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return OutputFolderError(error, "create", path);
  return absl::OkStatus();
}

// If several callers choose the same name, mkdir decides between them.
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path) {
  RETURN_IF_ERROR(CheckWritable(path));
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

namespace {

absl::Status SystemError(int error, std::string_view what, const std::string& path) {
  return OutputError(absl::StrCat("cannot ", std::string(what), " ", path), error);
}

// How long the pending lines of a run that has failed are waited for.
constexpr std::chrono::seconds kPatience{2};

BackgroundWriter::Options Appending(std::shared_ptr<LineFile> file,
                                    std::function<void(const absl::Status&)> failed,
                                    WriteGuard guard) {
  return {.write =
              [file, guard = std::move(guard)](std::string_view text) {
                return IfPermitted(guard, [&] { return file->AppendRecord(text); });
              },
          .name = file->path(),
          .capacity = BackgroundLines::kCapacity,
          .failed = [failed = std::move(failed)](
                        const absl::Status& why) { failed(AsOutputStatus(why)); },
          .patience = kPatience};
}

}  // namespace

absl::StatusOr<std::unique_ptr<LineFile>> LineFile::Open(std::string path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return SystemError(errno, "open", path);
  return std::unique_ptr<LineFile>(new LineFile(std::move(path), descriptor));
}

LineFile::~LineFile() { close(descriptor_); }

absl::Status LineFile::Append(std::string_view line) {
  return AppendRecord(absl::StrCat(std::string(line), "\n"));
}

absl::Status LineFile::AppendRecord(std::string_view whole) {
  const DiskWait wait(path_);
  const off_t start = lseek(descriptor_, 0, SEEK_END);
  size_t done = 0;
  while (done < whole.size()) {
    const ssize_t written = write(descriptor_, whole.data() + done, whole.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      // If even this fails, the reader finds a partial record and reports that.
      if (done > 0 && start >= 0) (void)!ftruncate(descriptor_, start);
      return SystemError(error, "write", path_);
    }
    done += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status LineFile::Sync() const {
  const DiskWait wait(path_);
  return fsync(descriptor_) == 0 ? absl::OkStatus() : SystemError(errno, "sync", path_);
}

BackgroundLines::BackgroundLines(std::unique_ptr<LineFile> file,
                                 std::function<void(const absl::Status&)> failed, WriteGuard guard)
    : file_(std::move(file)), writer_(Appending(file_, std::move(failed), std::move(guard))) {}

absl::Status BackgroundLines::Drain(std::chrono::steady_clock::time_point deadline) {
  return AsOutputStatus(writer_.Drain(deadline));
}

absl::Status BackgroundLines::Sync(std::chrono::steady_clock::time_point deadline) {
  RETURN_IF_ERROR(Drain(deadline));
  const auto begin = std::chrono::steady_clock::now();
  const auto synced = std::make_shared<absl::Status>();
  if (syncs_.Run([synced, file = file_] { *synced = file->Sync(); }, deadline)) return *synced;
  return OutputError(absl::StrCat("cannot sync ", file_->path(), ": its disk has not answered for ",
                                  HumanSeconds(std::chrono::steady_clock::now() - begin)));
}

namespace {

std::optional<int64_t> RoundOf(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto round = json.find("round");
  if (round == json.end() || !round->is_number_integer()) return std::nullopt;
  return round->get<int64_t>();
}

absl::StatusOr<std::string> WholeText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? text : InputError(std::string(text.status().message()));
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadLinesUntil(const std::string& path, int64_t round) {
  if (!Exists(path)) return std::vector<std::string>();
  ASSIGN_OR_RETURN(const std::string text, WholeText(path));
  std::vector<std::string> kept;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = text.substr(begin, end - begin);
    const std::optional<int64_t> of = RoundOf(line);
    if (!of) {
      return InputError(absl::StrCat(path, ":", kept.size() + 1, ": is no measurement of a round"));
    }
    if (*of > round) break;
    kept.push_back(std::move(line));
  }
  return kept;
}

absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round) {
  ASSIGN_OR_RETURN(std::vector<std::string> kept, ReadLinesUntil(path, round));
  std::string whole;
  for (const std::string& line : kept) absl::StrAppend(&whole, line, "\n");
  if (!Exists(path)) return kept;
  ASSIGN_OR_RETURN(const std::string text, WholeText(path));
  if (whole != text) RETURN_IF_ERROR(WriteOutputFile(path, whole));
  return kept;
}

}  // namespace grapevine
