// Every physical network by its spec.
//
//   switch                                       all hosts on one switch
//   racks:hosts=16:oversubscription=4            two_tier_platform.h
//   sites:sites=3:wan-bandwidth=1Gbit:wan-latency=30ms
//   fat-tree:k=4                                 fat_tree_platform.h
//   torus:4x8                                    torus_platform.h
//   file:PATH                                    platform_file.h; a name that ends
//                                                in .textproto or .graphml too
//   lan-1gbit, ...                               a preset (network_presets.h)
//
// All but files take bandwidth=, latency=, duplex= and loopback= as well, which
// describe the hosts' own cables (platform_options.h); options behind a preset's
// name replace its own.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_

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
  // Given beside the spec: as its options bandwidth=, latency= and duplex=half.
  // They replace those of a preset, and are refused beside the same option and for
  // files, which say it themselves.
  std::optional<int64_t> bandwidth;  // bits a second
  std::optional<Nanoseconds> latency;
  bool half_duplex = false;
  // At least so many hosts; a family makes itself large enough.
  Rank hosts = 1;
};

// A network that cannot be is kUsage and quotes the spec, a broken file kInput.
absl::StatusOr<std::shared_ptr<const Platform>> MakePlatform(const PlatformRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_
