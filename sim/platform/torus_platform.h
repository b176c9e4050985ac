// Hosts joined to each other directly, in a grid of any number of sides that
// closes around itself: the network of many supercomputers and accelerator pods.
//
// Every host has a cable to the next host along every side, and passes on what is
// for others. Routes go along one side after the other (dimension order), each the
// shorter way around; where both are as short, a hash of sender and receiver
// chooses.
#ifndef GRAPEVINE_SIM_PLATFORM_TORUS_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_TORUS_PLATFORM_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/spec.h"
#include "sim/platform/formula_platform.h"
#include "sim/platform/platform_options.h"

namespace grapevine {

// Immutable.
class TorusPlatform final : public FormulaPlatform {
 public:
  // Host 0, 1, ... count along the last side first. The bandwidth and latency are
  // those of each cable.
  TorusPlatform(std::string name, const std::vector<Rank>& sides, const PlatformOptions& options);

  void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const override;

 private:
  // A side of at least 2; one of 2 has one cable for two hosts.
  struct Side {
    HostId length;
    HostId stride;        // between neighbours
    CableId first_cable;  // of its cables
  };

  static std::vector<Side> MakeSides(const std::vector<Rank>& sides);
  std::pair<std::string, std::string> Ends(CableId cable) const override;
  static CableId CableCount(const Side& side, HostId hosts) {
    return side.length == 2 ? hosts / 2 : hosts;
  }
  static HostId Coordinate(const Side& side, HostId host) {
    return host / side.stride % side.length;
  }
  // One further along a side, or one back.
  static HostId Step(const Side& side, HostId host, int direction);
  // Of the host's cable to the next one.
  static CableId CableAt(const Side& side, HostId host);

  const std::vector<Side> sides_;
};

// torus, torus:4x8, torus:4x4x4; without sides, the two of n nearest to each other.
absl::StatusOr<std::shared_ptr<const Platform>> MakeTorusPlatform(const Spec& spec, Rank n);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_TORUS_PLATFORM_H_
