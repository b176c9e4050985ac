// The first and the last bytes of a probe's connection, from a caller to another host's door
// (probe_door.h):
//
//   door -> caller   a nonce
//   caller -> door   a hello: what it wants, for how long, how many bytes; and that it has the
//                    survey's token
//   door -> caller   a welcome: which host this is; and that it has the token, too
//
// then an echo sends back what comes, and a sink reads it and ends with a count. The token never
// crosses the network (node/identity/authentication.h), and a proof is for one connection.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_PROBE_WIRE_H_
#define GRAPEVINE_NODE_PROBE_PROBE_WIRE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/identity/authentication.h"

namespace grapevine {

enum class ProbeKind : uint8_t { kEcho = 1, kSink = 2 };

struct ProbeHello {
  ProbeKind kind = ProbeKind::kEcho;
  std::chrono::milliseconds duration{};  // of all of it
  uint64_t bytes = 0;                    // that the caller will send, at most

  friend bool operator==(const ProbeHello&, const ProbeHello&) = default;
};

// What a door grants; a hello that asks for more is refused.
inline constexpr std::chrono::milliseconds kLongestProbe{60000};
inline constexpr uint64_t kLargestProbe = uint64_t{1} << 40;

inline constexpr size_t kProbeNonceBytes = 16;
inline constexpr size_t kProbeHelloBytes = 1 + 4 + 8 + 32;
inline constexpr size_t kProbeWelcomeBytes = 4 + 32;
inline constexpr size_t kSinkCountBytes = 8 + 8;

std::string DrawProbeNonce();

std::string EncodeHello(const RunToken& token, std::string_view nonce, const ProbeHello& hello);
// None: without the token, for another connection, or more than a door grants.
std::optional<ProbeHello> DecodeHello(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes);

std::string EncodeWelcome(const RunToken& token, std::string_view nonce, uint32_t host);
// The number of the host; none: not one of this survey.
std::optional<uint32_t> DecodeWelcome(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes);

struct SinkCount {
  uint64_t bytes = 0;
  std::chrono::nanoseconds time{};  // within which they came

  friend bool operator==(const SinkCount&, const SinkCount&) = default;
};

std::string EncodeCount(const SinkCount& count);
SinkCount DecodeCount(std::string_view bytes);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_WIRE_H_
