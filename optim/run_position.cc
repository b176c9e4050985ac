#include "optim/run_position.h"

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

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

absl::StatusOr<std::vector<double>> ParseRunPositions(std::string_view text, const RunExtent& run) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '+');
  std::vector<double> positions;
  for (const std::string& part : parts) {
    ASSIGN_OR_RETURN(const double position, ParseRunPosition(part, run));
    if (!positions.empty() && position <= positions.back()) {
      return UsageError(absl::StrCat("'", part, "' does not come after '",
                                     parts[positions.size() - 1],
                                     "'; write positions in ascending order"));
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace grapevine
