// What every reader of cluster descriptions promises about its result.
#ifndef GRAPEVINE_TESTS_FUZZ_PLATFORM_FILE_H_
#define GRAPEVINE_TESTS_FUZZ_PLATFORM_FILE_H_

#include <glog/logging.h>

#include "absl/status/statusor.h"
#include "sim/platform/graph_platform.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine::fuzz {

inline void RequirePlatform(const absl::StatusOr<PlatformDescription>& platform) {
  if (!platform.ok()) return RequireClass(platform.status(), Failure::kInput);
  const auto nodes = static_cast<int32_t>(platform->nodes.size());
  for (const PlatformDescription::Cable& cable : platform->cables) {
    CHECK(cable.a >= 0 && cable.a < nodes && cable.b >= 0 && cable.b < nodes);
    CHECK_GT(cable.bandwidth, 0);
    CHECK_GE(cable.latency, 0);
  }
}

}  // namespace grapevine::fuzz

#endif  // GRAPEVINE_TESTS_FUZZ_PLATFORM_FILE_H_
