// How verdicts and notices name what they are about.
#ifndef GRAPEVINE_NODE_CONTROL_WORDING_H_
#define GRAPEVINE_NODE_CONTROL_WORDING_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// "--peer-timeout=30s".
std::string FlagWithTime(const char* flag, std::chrono::milliseconds value);
// "rank 3", "ranks 3, 4 and 17 more"; at least one.
std::string Named(const std::vector<Rank>& ranks);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_WORDING_H_
