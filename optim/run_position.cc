#include "optim/run_position.h"

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {

absl::StatusOr<double> ParseRunPosition(std::string_view text, const RunExtent& run) {
  const std::string position(text);
  const bool share = absl::EndsWith(position, "%");
  double value = 0;
  if (!absl::SimpleAtod(position.substr(0, position.size() - share), &value) ||
      !std::isfinite(value) || value < 0) {
    return UsageError(absl::StrCat(
        "'", position, "' is not a position; write epochs (5) or a share of the run (10%)"));
  }
  const double end = static_cast<double>(run.rounds);
  const double rounds = share ? value / 100 * end : value * run.rounds_per_epoch;
  if (rounds > end) {
    return UsageError(absl::StrCat("'", position, "' is round ", rounds,
                                   ", past the end of the run (", run.rounds, " rounds)"));
  }
  return rounds;
}

}  // namespace grapevine
