// Runs a recorded run of real nodes again, in this process and without a network, and compares the
// bits in which it ends.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_REPLAYED_RUN_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_REPLAYED_RUN_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "run/recording/recording.h"

namespace grapevine {

struct ReplayedRun {
  Rank nodes = 0;
  int64_t events = 0;
};

// Replays `recordings`, those of all nodes, by rank. Returns OK if every node that ended with a
// model ends with the same bits. Errors: kInput for a recording that breaks off, or is not of a run
// that this program could do; kOther, with the first rank, where a replica ends in other bits.
absl::StatusOr<ReplayedRun> ReplayRun(std::span<const RecordedNode> recordings);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_REPLAYED_RUN_H_
