#include "run/config/token_source.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file.h"

namespace grapevine {
namespace {

// A shorter token can be guessed; a longer one is a mistake.
constexpr size_t kMinLength = 16;
constexpr size_t kMaxLength = 1024;
// The longest file of a token, with surrounding whitespace.
constexpr size_t kMaxFile = 2 * kMaxLength;

constexpr char kRemedy[] = "; \"openssl rand -hex 32\" makes a good one";

absl::Status Unfit(const std::string& origin, const std::string& what, Failure failure) {
  return WithFailure(absl::InvalidArgumentError(absl::StrCat(origin, ": ", what, kRemedy)),
                     failure);
}

// Returns the token within `text`. Errors never quote it.
absl::StatusOr<std::string> TokenIn(std::string_view text, const std::string& origin,
                                    Failure failure) {
  const std::string token(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
  if (token.empty()) return Unfit(origin, "there is no token in it", failure);
  if (token.size() < kMinLength || token.size() > kMaxLength) {
    return Unfit(origin,
                 absl::StrCat("a token has ", kMinLength, " to ", kMaxLength,
                              " characters, this one ", token.size()),
                 failure);
  }
  const bool printable = std::all_of(token.begin(), token.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  if (!printable) {
    return Unfit(origin, "a token is of printable ASCII characters without blanks", failure);
  }
  return token;
}

std::string ReadableByOthers(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || (info.st_mode & (S_IRGRP | S_IROTH)) == 0) return "";
  return absl::StrCat("--token-file=", path,
                      ": others on this machine can read the token; chmod 600 ", path);
}

absl::StatusOr<TokenSource> ReadTokenFile(const std::string& path) {
  TokenSource source{.secret = {}, .origin = absl::StrCat("--token-file=", path), .warning = {}};
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) {
    return WithFailure(
        absl::Status(file.status().code(), absl::StrCat("--token-file: ", file.status().message())),
        Failure::kInput);
  }
  const std::span<const uint8_t> bytes = (*file)->bytes();
  if (bytes.size() > kMaxFile) {
    return Unfit(source.origin, absl::StrCat("a file of ", bytes.size(), " bytes is not a token"),
                 Failure::kInput);
  }
  ASSIGN_OR_RETURN(source.secret,
                   TokenIn({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                           source.origin, Failure::kInput));
  source.warning = ReadableByOthers(path);
  return source;
}

}  // namespace

absl::StatusOr<TokenSource> FindToken(const Config& config, const char* variable) {
  if (config.has_token_file()) return ReadTokenFile(config.token_file());
  if (variable == nullptr || *variable == '\0') {
    return TokenSource{.secret = {}, .origin = "none", .warning = {}};
  }
  ASSIGN_OR_RETURN(std::string token, TokenIn(variable, kTokenVariable, Failure::kUsage));
  return TokenSource{.secret = std::move(token), .origin = kTokenVariable, .warning = {}};
}

absl::StatusOr<std::string> DrawToken() {
  constexpr size_t kBytes = 32;
  std::string bytes(kBytes, '\0');
  // The kernel gives up to 256 bytes in one piece.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::ErrnoToStatus(errno, "the kernel gives no random numbers");
  }
  return absl::BytesToHexString(bytes);
}

}  // namespace grapevine
