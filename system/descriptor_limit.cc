#include "system/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace grapevine {

int64_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  constexpr auto kMost = static_cast<rlim_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(limit.rlim_max, kMost));
}

}  // namespace grapevine
