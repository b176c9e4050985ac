// --compute=profile:FILE (run/timing/compute_profile.h).
#include "run/timing/compute_profile.h"

#include <glog/logging.h>

#include <algorithm>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(compute_profile) {
  const fuzz::InputFile file(data, size);
  const auto profile = ReadComputeProfile(file.path());
  if (!profile.ok()) {
    fuzz::RequireClass(profile.status(), Failure::kInput);
    return;
  }
  for (const DeviceProfile& device : profile->devices()) {
    CHECK(std::ranges::is_sorted(device.gradient_ns()));
  }
  const std::string text = ToText(*profile);
  const fuzz::InputFile written(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto again = ReadComputeProfile(written.path());
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToText(*again), text);
}

}  // namespace
}  // namespace grapevine
