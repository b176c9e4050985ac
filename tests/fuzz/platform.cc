// --network=file:PATH (sim/platform_textproto.h).
#include <glog/logging.h>

#include "sim/platform_textproto.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const fuzz::InputFile file(data, size);
  const auto platform = ReadPlatformTextproto(file.path());
  if (!platform.ok()) {
    fuzz::RequireClass(platform.status(), Failure::kInput);
    return 0;
  }
  const auto nodes = static_cast<int32_t>(platform->nodes.size());
  for (const PlatformDescription::Cable& cable : platform->cables) {
    CHECK(cable.a >= 0 && cable.a < nodes && cable.b >= 0 && cable.b < nodes);
    CHECK_GT(cable.bandwidth, 0);
    CHECK_GE(cable.latency, 0);
  }
  return 0;
}
