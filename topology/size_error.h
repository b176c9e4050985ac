// "hypercube: not for 12 nodes: n must be a power of two; the nearest is n = 8 or 16".
//
// Every topology is defined for every n >= 1 or refused in these words.
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_SIZE_ERROR_H_
#define GRAPEVINE_TOPOLOGY_SIZE_ERROR_H_

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "base/ids.h"

namespace grapevine {

// Refuses `spec` over n nodes because of `rule`, and names the sizes closest to
// n for which `works` holds (both, when one below is as close as one above).
// Some size above n must work.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule,
                       const std::function<bool(int64_t)>& works);

// As above, where exactly one size works.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule, int64_t only);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SIZE_ERROR_H_
