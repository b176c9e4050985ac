// Sizes, bandwidths and durations as people write them: "1.08MB", "100Mbit",
// "5ms". MB is 10^6 bytes, MiB 2^20 bytes, Mbit 10^6 bits.
//
// Reading is strict: a decimal number, a unit, nothing else; results are exact
// integers (the nearest one), and what does not fit is refused. Errors are
// kUsage, quote the text and show examples.
#ifndef GRAPEVINE_BASE_UNITS_H_
#define GRAPEVINE_BASE_UNITS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

// Bytes. Units B kB (KB) MB GB TB, KiB MiB GiB TiB; a bare number is bytes.
absl::StatusOr<int64_t> ParseSize(std::string_view text);
// Bits a second. Units bit kbit Mbit Gbit Tbit, "/s" or "ps" may follow.
absl::StatusOr<int64_t> ParseBandwidth(std::string_view text);
// Units ns us ms s min h; only 0 may stand without one.
absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// A number in [0, 1], or a percentage: 0.985, "98.5%".
absl::StatusOr<double> ParseFraction(std::string_view text);

// The canonical text, which reads back as the same value: "1.08MB", "64MiB",
// "100Mbit", "15min". For values >= 0.
std::string FormatSize(int64_t bytes);
std::string FormatBandwidth(int64_t bits_per_second);
std::string FormatDuration(std::chrono::nanoseconds duration);

// For people only, three digits: "1.05 MB", "12.3 s", "1 h 05 min".
std::string HumanSize(double bytes);
std::string HumanDuration(double seconds);

// One decimal, always seconds ("0.4 s", "250.0 s"): how long a wait lasted, for messages that
// also quote the flag that bounds it.
std::string HumanSeconds(std::chrono::nanoseconds duration);

// As a number.
template <typename Count, typename Period>
constexpr double Seconds(std::chrono::duration<Count, Period> duration) {
  return std::chrono::duration<double>(duration).count();
}
// The same for times counted in nanoseconds, such as simulated time, or a mean of them.
constexpr double SecondsOfNanoseconds(double nanoseconds) { return nanoseconds * 1e-9; }

// 12,345 becomes 12,300: the digits that a short measurement warrants.
int64_t ThreeDigits(int64_t value);

// Counts from outside (bytes, nanoseconds), which others are added to.

// A link of a terabit a second carries as many bytes in three months; as nanoseconds, 36 years.
inline constexpr int64_t kMostCounted = int64_t{1} << 60;

// Whether a run can have counted that; with what any run adds, it stays a number.
constexpr bool CanBeCounted(int64_t count) { return count >= 0 && count <= kMostCounted; }

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_UNITS_H_
