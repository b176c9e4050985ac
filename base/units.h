// Sizes, bandwidths and durations as people write them: "1.08MB", "100Mbit",
// "5ms". MB is 10^6 bytes, MiB 2^20 bytes, Mbit 10^6 bits.
//
// Reading is strict: a text is a decimal number and a unit, nothing else. Results are rounded to
// the nearest integer, and values that do not fit are refused. Errors carry Failure::kUsage, quote
// the text and show examples.
#ifndef GRAPEVINE_BASE_UNITS_H_
#define GRAPEVINE_BASE_UNITS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

// Reads a size in bytes. Units are B kB (KB) MB GB TB, KiB MiB GiB TiB; a bare number is bytes.
absl::StatusOr<int64_t> ParseSize(std::string_view text);
// Reads a bandwidth in bits per second. Units are bit kbit Mbit Gbit Tbit; "/s" or "ps" may follow.
absl::StatusOr<int64_t> ParseBandwidth(std::string_view text);
// Reads a duration. Units are ns us ms s min h; only 0 needs none.
absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// Reads a number in [0, 1] or a percentage: "0.985", "98.5%".
absl::StatusOr<double> ParseFraction(std::string_view text);

// Return the canonical text, which reads back as the same value: "1.08MB", "64MiB",
// "100Mbit", "15min". Values must be >= 0.
std::string FormatSize(int64_t bytes);
std::string FormatBandwidth(int64_t bits_per_second);
std::string FormatDuration(std::chrono::nanoseconds duration);

// Return texts of three digits, for people only: "1.05 MB", "12.3 s", "1 h 05 min".
std::string HumanSize(double bytes);
std::string HumanDuration(double seconds);

// Returns seconds with one decimal ("0.4 s", "250.0 s"). It is meant for messages that say how long
// a wait lasted and quote the flag that bounds it.
std::string HumanSeconds(std::chrono::nanoseconds duration);

// Returns a duration in seconds.
template <typename Count, typename Period>
constexpr double Seconds(std::chrono::duration<Count, Period> duration) {
  return std::chrono::duration<double>(duration).count();
}
// Converts nanoseconds to seconds, for times that are plain numbers, such as simulated times and
// their means.
constexpr double SecondsOfNanoseconds(double nanoseconds) { return nanoseconds * 1e-9; }

// Rounds to three significant digits, which is what a short measurement warrants: 12,345 becomes
// 12,300.
int64_t ThreeDigits(int64_t value);

// Bounds for counts of bytes or nanoseconds that come from outside and that a run adds to.

// The largest count accepted: the bytes of a terabit link in three months, or 36 years in
// nanoseconds.
inline constexpr int64_t kMostCounted = int64_t{1} << 60;

// Whether a run can have counted `count`. If so, no run adds enough to it to overflow an int64_t.
constexpr bool CanBeCounted(int64_t count) { return count >= 0 && count <= kMostCounted; }

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_UNITS_H_
