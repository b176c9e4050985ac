// A fat tree of k-port switches (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
//
// k pods, each of k/2 edge and k/2 aggregation switches; an edge switch has k/2
// hosts; (k/2)^2 core switches. All k^3/4 hosts can send to others at their full
// bandwidth at once, if routes do not collide. A route is chosen among the
// shortest by a hash of sender and receiver, as switches do (ECMP), so that some do.
#ifndef GRAPEVINE_SIM_PLATFORM_FAT_TREE_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_FAT_TREE_PLATFORM_H_

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
class FatTreePlatform final : public FormulaPlatform {
 public:
  // k is even, 2 to 406. All cables are like the hosts'.
  FatTreePlatform(std::string name, int k, const PlatformOptions& options);

  void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const override;

 private:
  std::pair<std::string, std::string> Ends(CableId cable) const override;
  // Edge switches are counted through all pods, as aggregation switches are.
  HostId EdgeOf(HostId host) const { return host / half_; }
  // Host h's own cable is h.
  CableId EdgeToAggregation(HostId edge, int aggregation) const {
    return hosts() + edge * half_ + aggregation;
  }
  CableId AggregationToCore(HostId aggregation, int core) const {
    return 2 * hosts() + aggregation * half_ + core;
  }

  const int half_;  // k/2
};

// fat-tree:k=4; k defaults to the smallest that has n hosts.
absl::StatusOr<std::shared_ptr<const Platform>> MakeFatTree(const Spec& spec, Rank n);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_FAT_TREE_PLATFORM_H_
