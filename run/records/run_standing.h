// The standing of the nodes of a run while it goes on: what rank 0 tells its launcher about once a
// second, to be shown on a terminal. Its size is bounded whatever the number of nodes: it has only
// the extremes.
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

// A node that waits: it has nothing left to do before `peer` has done something.
struct StandingWait {
  int64_t rank = 0;
  int64_t peer = 0;
  int64_t round = 0;   // rounds that the node has completed
  double seconds = 0;  // time that it has waited in this round, so far
};

// The standing of the nodes that are not done, from the last report of each.
struct RunStanding {
  // The nodes that have completed the fewest and the most rounds; the lower rank among equals.
  // Where nodes share a budget of gradients, rounds are steps of the node's own.
  int64_t slowest_rank = 0;
  int64_t slowest_round = 0;
  int64_t fastest_rank = 0;
  int64_t fastest_round = 0;
  // The longest wait for a node that does not wait itself, if there is one.
  std::optional<StandingWait> wait;
};

// Returns one line of JSON, without the line break.
std::string ToJsonLine(const RunStanding& standing);
// Parses a line that ToJsonLine has written. Safe on hostile input: ranks, rounds and times are not
// negative. Errors name the member.
absl::StatusOr<RunStanding> RunStandingFromJson(std::string_view line);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_STANDING_H_
