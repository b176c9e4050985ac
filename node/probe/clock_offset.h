// How far another host's clock is ahead of this one's, as NTP finds it (RFC 5905): it is asked, and
// its answer lies somewhere between the question and when the answer is back.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_
#define GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_

#include <chrono>
#include <optional>
#include <span>

namespace grapevine {

// Times of a question: here, there, there, here.
struct ClockSample {
  std::chrono::nanoseconds asked{}, heard{}, answered{}, back{};
};

struct ClockOffset {
  std::chrono::nanoseconds ahead{};  // of this host's; negative: behind
  std::chrono::nanoseconds error{};  // at most: half of the time that the question was under way
};

// By the sample that was under way for the shortest time; none without one. Samples that run
// backwards, or are not within centuries of each other, do not count.
std::optional<ClockOffset> OffsetOf(std::span<const ClockSample> samples);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_CLOCK_OFFSET_H_
