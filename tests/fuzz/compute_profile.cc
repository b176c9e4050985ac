// --compute=profile:FILE (run/timing/compute_profile.h).
#include "run/timing/compute_profile.h"

#include <glog/logging.h>

#include <algorithm>

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const fuzz::InputFile file(data, size);
  const auto profile = ReadComputeProfile(file.path());
  if (!profile.ok()) {
    fuzz::RequireClass(profile.status(), Failure::kInput);
    return 0;
  }
  for (const DeviceProfile& device : profile->devices()) {
    CHECK(std::ranges::is_sorted(device.gradient_ns()));
  }
  const std::string text = ToText(*profile);
  const fuzz::InputFile written(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto again = ReadComputeProfile(written.path());
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToText(*again), text);
  return 0;
}
