#include "cli/terminal/text_output.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <utility>

#include "run/records/output_file.h"

namespace grapevine {

absl::Status FlushStandardOutput() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && std::ferror(stdout) == 0 && std::cout.flush()) return absl::OkStatus();
  // The reason for an earlier failure is lost.
  return AsOutputStatus(
      absl::ErrnoToStatus(error == 0 ? EIO : error, "cannot write to the standard output"));
}

namespace {

absl::Status WriteStandardOutput(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return FlushStandardOutput();
}

}  // namespace

absl::StatusOr<TextOutput> TextOutput::Open(const std::string& path) {
  if (path.empty() || path == "-") return TextOutput(nullptr);
  auto file = AtomicFile::Create(path);
  if (!file.ok()) return AsOutputStatus(file.status());
  return TextOutput(*std::move(file));
}

absl::Status TextOutput::Append(std::string_view text) {
  constexpr size_t kPiece = 1 << 16;
  pending_ += text;
  return pending_.size() < kPiece ? absl::OkStatus() : Flush();
}

absl::Status TextOutput::Close() {
  absl::Status status = Flush();
  return status.ok() && file_ != nullptr ? AsOutputStatus(file_->Commit()) : status;
}

absl::Status TextOutput::Flush() {
  const std::string text = std::exchange(pending_, {});
  return AsOutputStatus(file_ != nullptr ? file_->Append(text) : WriteStandardOutput(text));
}

}  // namespace grapevine
