#include "node/probe/probe_wire.h"

#include <sys/random.h>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace grapevine {
namespace {

constexpr size_t kProofBytes = 32;

// Returns `value` in `bytes` bytes, low byte first.
std::string Number(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t byte = 0; byte < bytes; ++byte) {
    text.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
  }
  return text;
}

uint64_t NumberIn(std::string_view text) {
  uint64_t value = 0;
  for (size_t byte = 0; byte < text.size(); ++byte) {
    value |= uint64_t{static_cast<uint8_t>(text[byte])} << (8 * byte);
  }
  return value;
}

std::string Claim(std::string_view who, std::string_view nonce, std::string_view said) {
  return absl::StrCat("grapevine probe ", std::string(who), std::string(nonce), std::string(said));
}

// Without a token, a proof would be empty, and messages would have another length.
std::string Proof(const RunToken& token, const std::string& claim) {
  CHECK(token.given()) << "a survey has a token";
  return token.Proof(claim);
}

}  // namespace

std::string DrawProbeNonce() {
  std::string nonce(kProbeNonceBytes, '\0');
  const ssize_t drawn = getrandom(nonce.data(), nonce.size(), 0);
  PCHECK(drawn == static_cast<ssize_t>(nonce.size())) << "no random bytes";
  return nonce;
}

std::string EncodeHello(const RunToken& token, std::string_view nonce, const ProbeHello& hello) {
  const std::string said = absl::StrCat(Number(static_cast<uint8_t>(hello.kind), 1),
                                        Number(static_cast<uint64_t>(hello.duration.count()), 4),
                                        Number(hello.bytes, 8));
  return said + Proof(token, Claim("caller", nonce, said));
}

std::optional<ProbeHello> DecodeHello(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes) {
  if (bytes.size() != kProbeHelloBytes) return std::nullopt;
  const std::string_view said = bytes.substr(0, kProbeHelloBytes - kProofBytes);
  if (!token.given() || !token.Accepts(bytes.substr(said.size()), Claim("caller", nonce, said))) {
    return std::nullopt;
  }
  const ProbeHello hello{
      .kind = static_cast<ProbeKind>(said[0]),
      .duration = std::chrono::milliseconds(static_cast<int64_t>(NumberIn(said.substr(1, 4)))),
      .bytes = NumberIn(said.substr(5, 8))};
  if (hello.kind != ProbeKind::kEcho && hello.kind != ProbeKind::kSink) return std::nullopt;
  if (hello.duration > kLongestProbe || hello.bytes > kLargestProbe) return std::nullopt;
  return hello;
}

std::string EncodeWelcome(const RunToken& token, std::string_view nonce, uint32_t host) {
  const std::string said = Number(host, 4);
  return said + Proof(token, Claim("door", nonce, said));
}

std::optional<uint32_t> DecodeWelcome(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes) {
  if (bytes.size() != kProbeWelcomeBytes) return std::nullopt;
  const std::string_view said = bytes.substr(0, 4);
  if (!token.given() || !token.Accepts(bytes.substr(4), Claim("door", nonce, said))) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(NumberIn(said));
}

std::string EncodeCount(const SinkCount& count) {
  return Number(count.bytes, 8) + Number(static_cast<uint64_t>(count.time.count()), 8);
}

SinkCount DecodeCount(std::string_view bytes) {
  return {.bytes = NumberIn(bytes.substr(0, 8)),
          .time = std::chrono::nanoseconds(static_cast<int64_t>(NumberIn(bytes.substr(8, 8))))};
}

}  // namespace grapevine
