// The first and the last bytes of a probe's connection, from a caller to another host's door
// (probe_door.h):
//
//   door -> caller   a nonce
//   caller -> door   a hello: what the caller wants, for how long, how many bytes; and a proof that
//                    it has the survey's token
//   door -> caller   a welcome: which host this is; and a proof that the door has the token, too
//
// Then an echo sends back the bytes that it receives; a sink reads them and ends with a count. The
// token never crosses the network (node/identity/authentication.h), and a proof is for one
// connection.
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
  std::chrono::milliseconds duration{};  // the time of the whole probe
  uint64_t bytes = 0;                    // the most bytes that the caller will send

  friend bool operator==(const ProbeHello&, const ProbeHello&) = default;
};

// The limits that a door grants; a hello that asks for more is refused.
inline constexpr std::chrono::milliseconds kLongestProbe{60000};
inline constexpr uint64_t kLargestProbe = uint64_t{1} << 40;

inline constexpr size_t kProbeNonceBytes = 16;
inline constexpr size_t kProbeHelloBytes = 1 + 4 + 8 + 32;
inline constexpr size_t kProbeWelcomeBytes = 4 + 32;
inline constexpr size_t kSinkCountBytes = 8 + 8;

std::string DrawProbeNonce();

std::string EncodeHello(const RunToken& token, std::string_view nonce, const ProbeHello& hello);
// Returns the hello in `bytes`; none if it is without the token, for another connection, or asks
// for more than a door grants.
std::optional<ProbeHello> DecodeHello(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes);

std::string EncodeWelcome(const RunToken& token, std::string_view nonce, uint32_t host);
// Returns the number of the host that answers; none if it is not one of this survey.
std::optional<uint32_t> DecodeWelcome(const RunToken& token, std::string_view nonce,
                                      std::string_view bytes);

struct SinkCount {
  uint64_t bytes = 0;
  std::chrono::nanoseconds time{};  // the time within which the bytes arrived

  friend bool operator==(const SinkCount&, const SinkCount&) = default;
};

std::string EncodeCount(const SinkCount& count);
SinkCount DecodeCount(std::string_view bytes);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_WIRE_H_
