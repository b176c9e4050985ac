// The words in which verdicts and notices name their subjects.
#ifndef GRAPEVINE_NODE_CONTROL_WORDING_H_
#define GRAPEVINE_NODE_CONTROL_WORDING_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// Returns, for example, "--peer-timeout=30s".
std::string FlagWithTime(const char* flag, std::chrono::milliseconds value);
// Returns, for example, "rank 3" or "ranks 3, 4 and 17 more". At least one rank is required.
std::string Named(const std::vector<Rank>& ranks);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_WORDING_H_
