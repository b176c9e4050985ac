#include "node/launch/message_pipe.h"

#include <google/protobuf/message_lite.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr size_t kLengthBytes = 4;

std::string LengthPrefix(size_t length) {
  std::string prefix;
  for (size_t byte = 0; byte < kLengthBytes; ++byte) {
    prefix.push_back(static_cast<char>(length >> (8 * byte) & 0xff));
  }
  return prefix;
}

size_t LengthIn(std::string_view prefix) {
  size_t length = 0;
  for (size_t byte = 0; byte < kLengthBytes; ++byte) {
    length |= size_t{static_cast<uint8_t>(prefix[byte])} << (8 * byte);
  }
  return length;
}

// Drops the first `behind` bytes once they are at least half of all: each byte moves about once.
void Compact(std::string* bytes, size_t* behind) {
  if (*behind < bytes->size() / 2) return;
  bytes->erase(0, std::exchange(*behind, 0));
}

}  // namespace

absl::StatusOr<std::optional<std::string>> MessageReader::Greeting(std::string_view greeting) {
  while (true) {
    const size_t end = bytes_.find('\n', taken_);
    if (end == std::string::npos || end >= kMaxNoise) break;
    std::string line = bytes_.substr(taken_, end - taken_);
    taken_ = end + 1;
    if (line.starts_with(greeting)) return line;
  }
  if (bytes_.size() < kMaxNoise) return std::nullopt;
  return absl::InvalidArgumentError("says much, but not that it is Grapevine");
}

absl::StatusOr<std::optional<std::string>> MessageReader::Next() {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  const size_t length = LengthIn(rest);
  if (length > kMaxMessage) {
    return absl::InvalidArgumentError(absl::StrCat("announces a message of ", length, " bytes"));
  }
  if (rest.size() - kLengthBytes < length) return std::nullopt;
  std::string message(rest.substr(kLengthBytes, length));
  taken_ += kLengthBytes + length;
  Compact(&bytes_, &taken_);
  return message;
}

void MessageReader::Read(UniqueDescriptor& descriptor) {
  char buffer[65536];
  for (size_t total = 0; descriptor.open() && total < kMaxBurst;) {
    const ssize_t got = read(descriptor.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return descriptor.Close();
    total += static_cast<size_t>(got);
    Take({buffer, static_cast<size_t>(got)});
  }
}

void MessageWriter::Add(std::string_view line) { bytes_ += line; }

void MessageWriter::Add(const google::protobuf::MessageLite& message) {
  bytes_ += LengthPrefix(message.ByteSizeLong());
  message.AppendToString(&bytes_);
}

absl::Status MessageWriter::Write(const UniqueDescriptor& descriptor) {
  while (waiting() > 0) {
    const ssize_t put = write(descriptor.get(), bytes_.data() + written_, waiting());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return absl::ErrnoToStatus(errno, "nobody reads");
    written_ += static_cast<size_t>(put);
  }
  Compact(&bytes_, &written_);
  return absl::OkStatus();
}

}  // namespace grapevine
