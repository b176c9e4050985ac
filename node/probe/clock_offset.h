// OffsetOf finds how far another host's clock is ahead of this host's, as NTP does (RFC 5905). The
// other host is asked for its time, which it reads between the question and the arrival of the
// answer.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_
#define GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_

#include <chrono>
#include <optional>
#include <span>

namespace grapevine {

// The times of a question and its answer. `asked` and `back` are of this host's clock, `heard` and
// `answered` of the other host's.
struct ClockSample {
  std::chrono::nanoseconds asked{}, heard{}, answered{}, back{};
};

struct ClockOffset {
  std::chrono::nanoseconds ahead{};  // how far the other clock is ahead; negative if it is behind
  std::chrono::nanoseconds error{};  // at most half of the time that the question was under way
};

// Returns the offset according to the sample that was under way for the shortest time; none if no
// sample counts. Samples that run backwards, or whose times are not within centuries of each other,
// do not count.
std::optional<ClockOffset> OffsetOf(std::span<const ClockSample> samples);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_
