// What libFuzzer's program calls: the one target that is linked with it.
#include <glog/logging.h>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto play = [] {
    const auto& targets = grapevine::fuzz::Targets();
    CHECK_EQ(targets.size(), 1u);
    return targets.begin()->second;
  }();
  play(data, size);
  return 0;
}
