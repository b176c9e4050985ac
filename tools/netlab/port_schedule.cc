#include "tools/netlab/port_schedule.h"

#include <algorithm>

namespace grapevine::netlab {

int64_t PortSchedule::Duration(int64_t bytes) const {
  if (options_.bits_per_second == 0) return 0;
  return bytes * 8 * 1'000'000'000 / options_.bits_per_second;
}

std::optional<int64_t> PortSchedule::Admit(int64_t bytes, int64_t now) {
  const int64_t reached = now + options_.latency_ns;
  const int64_t begin = std::max(reached, free_);
  if (begin - reached > Duration(options_.queue_bytes)) return std::nullopt;
  free_ = begin + Duration(bytes);
  return free_;
}

}  // namespace grapevine::netlab
