// The error of a node that has looked for rank 0 in vain.
#ifndef GRAPEVINE_NODE_DISCOVERY_NOT_FOUND_H_
#define GRAPEVINE_NODE_DISCOVERY_NOT_FOUND_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace grapevine {

// kRendezvous: "cannot join the run: for 60.0 s no rank 0 was found by way of PLACE: WHY".
absl::Status RankZeroNotFound(const std::string& place, std::chrono::nanoseconds looked,
                              const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_NOT_FOUND_H_
