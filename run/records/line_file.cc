#include "run/records/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "run/records/output_file.h"

namespace grapevine {
namespace {

absl::Status SystemError(int error, std::string_view what, const std::string& path) {
  return OutputError(absl::StrCat("cannot ", std::string(what), " ", path), error);
}

// For the pending lines of a run that has failed.
constexpr std::chrono::seconds kPatience{2};

BackgroundWriter::Options Appending(std::shared_ptr<LineFile> file,
                                    std::function<void(const absl::Status&)> failed) {
  return {.write = [file](std::string_view line) { return file->Append(line); },
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
  const std::string whole = absl::StrCat(std::string(line), "\n");
  const off_t start = lseek(descriptor_, 0, SEEK_END);
  size_t done = 0;
  while (done < whole.size()) {
    const ssize_t written = write(descriptor_, whole.data() + done, whole.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      // If even this fails, the reader finds half a line and reports it.
      if (done > 0 && start >= 0) (void)!ftruncate(descriptor_, start);
      return SystemError(error, "write", path_);
    }
    done += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status LineFile::Sync() const {
  return fsync(descriptor_) == 0 ? absl::OkStatus() : SystemError(errno, "sync", path_);
}

BackgroundLines::BackgroundLines(std::unique_ptr<LineFile> file,
                                 std::function<void(const absl::Status&)> failed)
    : file_(std::move(file)), writer_(Appending(file_, std::move(failed))) {}

absl::Status BackgroundLines::Drain(std::chrono::steady_clock::time_point deadline) {
  return AsOutputStatus(writer_.Drain(deadline));
}

absl::Status BackgroundLines::Sync(std::chrono::steady_clock::time_point deadline) {
  absl::Status drained = Drain(deadline);
  return drained.ok() ? file_->Sync() : drained;
}

}  // namespace grapevine
