// A physical network by its spec: a family with options, "racks:hosts=16", a preset, whose options
// replace its own, or "file:PATH" (platform_file.h), where a name that ends in .textproto or
// .graphml does, too. Families and presets register themselves (platform_kind.h); link
// :registry for those of this folder.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct PlatformRequest {
  std::string network = "switch";
  // Given beside the spec, like its options bandwidth=, latency= and duplex=half. They replace
  // those of a preset, and are refused beside the same option and for files, which have their own.
  std::optional<int64_t> bandwidth;  // bits a second
  std::optional<Nanoseconds> latency;
  bool half_duplex = false;
  // The fewest hosts; a family makes itself large enough.
  Rank hosts = 1;
};

// An impossible network is kUsage and quotes the spec, a broken file kInput.
absl::StatusOr<std::shared_ptr<const Platform>> MakePlatform(const PlatformRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_
