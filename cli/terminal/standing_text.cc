#include "cli/terminal/standing_text.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/units.h"

namespace grapevine {
namespace {

constexpr double kLongWait_s = 1;
// Nodes say once a second where they are, and rank 0 passes it on as often.
constexpr double kOldNews_s = 2;

}  // namespace

std::string WaitText(const RunStanding& standing, double round_s) {
  if (!standing.wait || standing.wait->seconds < std::max(kLongWait_s, 2 * round_s)) return "";
  return absl::StrFormat("rank %d waits for %d, round %d, %s", standing.wait->rank,
                         standing.wait->peer, standing.wait->round,
                         HumanDuration(standing.wait->seconds));
}

std::string SpreadText(const RunStanding& standing, double round_s) {
  const auto ahead = static_cast<double>(standing.fastest_round - standing.slowest_round);
  if (!(round_s > 0) || ahead * round_s <= kOldNews_s) return "";
  return absl::StrFormat("rank %d at %d, rank %d at %d", standing.slowest_rank,
                         standing.slowest_round, standing.fastest_rank, standing.fastest_round);
}

}  // namespace grapevine
