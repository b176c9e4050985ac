#include "node/probe/survey.h"

#include <cstdint>

namespace grapevine {
namespace {

constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);
constexpr uint64_t kMostBytes = uint64_t{1} << 50;

bool Came(const std::optional<probe::Streamed>& streamed) {
  return streamed && streamed->trouble().obstacle() == probe::NONE;
}

bool MakesSense(int64_t nanoseconds) { return nanoseconds > 0 && nanoseconds <= kLongest.count(); }

}  // namespace

std::optional<double> RateOf(const std::optional<probe::Streamed>& streamed) {
  if (!Came(streamed) || !MakesSense(streamed->nanoseconds()) || streamed->bytes() == 0 ||
      streamed->bytes() > kMostBytes) {
    return std::nullopt;
  }
  return static_cast<double>(streamed->bytes()) * 8e9 /
         static_cast<double>(streamed->nanoseconds());
}

std::optional<std::chrono::nanoseconds> LatencyOf(const std::optional<probe::Streamed>& streamed) {
  if (!Came(streamed) || !MakesSense(streamed->round_trip_ns())) return std::nullopt;
  return std::chrono::nanoseconds(streamed->round_trip_ns() / 2);
}

}  // namespace grapevine
