// Where the nodes of a run are while it goes on: what rank 0 tells its launcher about once a
// second, for whoever watches a terminal. Bounded whatever the number of nodes: only the extremes.
//
// Pure.
#ifndef GRAPEVINE_RUN_RECORDS_RUN_STANDING_H_
#define GRAPEVINE_RUN_RECORDS_RUN_STANDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

// A node that waits: nothing of its own is left to do before `peer` has done something.
struct StandingWait {
  int64_t rank = 0;
  int64_t peer = 0;
  int64_t round = 0;   // that it has completed
  double seconds = 0;  // for which it has waited in this round, so far
};

// Of the nodes that are not done, as each has last said.
struct RunStanding {
  // Who has completed the fewest rounds, and who the most; the lower rank among equals. Steps of
  // their own where nodes share a budget of gradients.
  int64_t slowest_rank = 0;
  int64_t slowest_round = 0;
  int64_t fastest_rank = 0;
  int64_t fastest_round = 0;
  // The longest that waits for somebody who does not wait himself, if there is one.
  std::optional<StandingWait> wait;
};

// One line of JSON, without the line break.
std::string ToJsonLine(const RunStanding& standing);
// The inverse, safe on hostile input: ranks, rounds and times are not negative. Errors name the
// member.
absl::StatusOr<RunStanding> RunStandingFromJson(std::string_view line);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_STANDING_H_
