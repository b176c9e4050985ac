#include "cli/text_output.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "run/failure.h"

namespace grapevine {
namespace {

absl::Status AsOutput(absl::Status status) {
  return status.ok() ? status : WithFailure(std::move(status), Failure::kOutput);
}

absl::Status WriteStandardOutput(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "cannot write to the standard output");
}

}  // namespace

absl::StatusOr<TextOutput> TextOutput::Open(const std::string& path) {
  if (path.empty() || path == "-") return TextOutput(nullptr);
  auto file = AtomicFile::Create(path);
  if (!file.ok()) return AsOutput(file.status());
  return TextOutput(*std::move(file));
}

absl::Status TextOutput::Append(std::string_view text) {
  constexpr size_t kPiece = 1 << 16;
  pending_ += text;
  return pending_.size() < kPiece ? absl::OkStatus() : Flush();
}

absl::Status TextOutput::Close() {
  absl::Status status = Flush();
  return status.ok() && file_ != nullptr ? AsOutput(file_->Commit()) : status;
}

absl::Status TextOutput::Flush() {
  const std::string text = std::exchange(pending_, {});
  return AsOutput(file_ != nullptr ? file_->Append(text) : WriteStandardOutput(text));
}

}  // namespace grapevine
