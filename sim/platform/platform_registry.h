// Every physical network by its spec.
//
//   switch                                       all hosts on one switch
//   racks:hosts=16:oversubscription=4            racks behind a switch each
//   sites:sites=3:wan-bandwidth=1Gbit:wan-latency=30ms
//   fat-tree:k=4                                 of k-port switches
//   torus:4x8                                    a grid that closes
//   file:PATH                                    platform_file.h; a name that ends
//                                                in .textproto or .graphml too
//   lan-1gbit, ...                               a preset (presets.textproto)
//
// All but files take bandwidth=, latency=, duplex= and loopback= as well, which
// describe the hosts' own cables (platform_kind.h); options behind a preset's
// name replace its own.
//
// Thread-safety: pure functions; presets are immutable.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

// A network that has a name; presets.textproto lists them.
struct NetworkPreset {
  std::string name;
  std::string network;  // the spec that it stands for
  std::string summary;  // one line
  std::string source;   // of its numbers
};

const std::vector<NetworkPreset>& AllNetworkPresets();
// Null for a name that is none.
const NetworkPreset* FindNetworkPreset(std::string_view name);

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
