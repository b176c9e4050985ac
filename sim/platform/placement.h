// Which rank runs on which host.
//
//   order             rank r on host r
//   order:per-host=4  ranks 0 to 3 on host 0, 4 to 7 on host 1, ...
//   shuffled          the same hosts in a random order; takes per-host too
//   file:PATH         one host name a line, in the order of the ranks; or a rank
//                     and a host name a line, in any order
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_SIM_PLATFORM_PLACEMENT_H_
#define GRAPEVINE_SIM_PLATFORM_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct Placement {
  std::string text;  // as the user wrote it
  bool shuffled = false;
  Rank per_host = 1;
  std::string path;  // path of a file, which then decides alone
};

// Parses a placement. Errors are kUsage.
absl::StatusOr<Placement> ParsePlacement(std::string_view text);

// Returns a number of hosts that is enough for n ranks; a file may name fewer.
Rank HostsFor(const Placement& placement, Rank n);

// Returns the host of every rank. Errors are kUsage for a platform with too few hosts, and kInput,
// with the file's name and line, for a broken file.
absl::StatusOr<std::vector<HostId>> PlaceRanks(const Placement& placement, Rank n,
                                               const Platform& platform, uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLACEMENT_H_
