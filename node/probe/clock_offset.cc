#include "node/probe/clock_offset.h"

#include <algorithm>

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

// A bound on times that can be added and subtracted a few times without overflow.
constexpr nanoseconds kFar{int64_t{1} << 61};

bool Counts(const ClockSample& sample) {
  const nanoseconds times[] = {sample.asked, sample.heard, sample.answered, sample.back};
  const bool near =
      std::ranges::all_of(times, [](nanoseconds time) { return time > -kFar && time < kFar; });
  return near && sample.asked <= sample.back && sample.heard <= sample.answered;
}

}  // namespace

std::optional<ClockOffset> OffsetOf(std::span<const ClockSample> samples) {
  std::optional<ClockOffset> best;
  for (const ClockSample& sample : samples) {
    if (!Counts(sample)) continue;
    const nanoseconds away = (sample.back - sample.asked) - (sample.answered - sample.heard);
    const nanoseconds error = std::max(away, nanoseconds(0)) / 2;
    if (best && best->error <= error) continue;
    // The middles of both intervals; the halves are added so that nothing overflows.
    const nanoseconds there = sample.heard + (sample.answered - sample.heard) / 2;
    const nanoseconds here = sample.asked + (sample.back - sample.asked) / 2;
    best = ClockOffset{.ahead = there - here, .error = error};
  }
  return best;
}

}  // namespace grapevine
