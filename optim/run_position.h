// A place along a run, as users write it: in epochs ("5", "2.5") or as a share of the run ("10%").
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_OPTIM_RUN_POSITION_H_
#define GRAPEVINE_OPTIM_RUN_POSITION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// The length of a run, in rounds of the first batch (optim/batch_schedule.h).
struct RunExtent {
  double rounds_per_epoch = 1;
  int64_t rounds = 1;
};

// Returns the position in rounds, from 0 to the run's. Errors quote the text and say what is wrong:
// it is no position, or is past the end.
absl::StatusOr<double> ParseRunPosition(std::string_view text, const RunExtent& run);
// Parses several positions, which must ascend: "50%+75%".
absl::StatusOr<std::vector<double>> ParseRunPositions(std::string_view text, const RunExtent& run);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_RUN_POSITION_H_
