// Every physical network by its spec.
//
//   switch                                       all hosts on one switch
//   racks:hosts=16:oversubscription=4            racks, each behind a switch
//   sites:sites=3:wan-bandwidth=1Gbit:wan-latency=30ms
//   fat-tree:k=4                                 of k-port switches
//   torus:4x8                                    a grid that wraps around
//   file:PATH                                    platform_file.h; a name that ends
//                                                in .textproto or .graphml too
//   lan-1gbit, ...                               a preset (presets.cc)
//
// All but files take bandwidth=, latency=, duplex= and loopback= as well, which
// describe the hosts' own cables (platform_kind.h); options behind a preset's
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

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_
