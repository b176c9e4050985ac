// Groups of hosts around a switch each, and a core that joins the groups: one
// switch, racks with oversubscribed uplinks, sites with a WAN between them.
//
// A host's cable goes to the switch of its group, and each group has one uplink to
// the core; the switches and the core themselves carry everything. A message
// crosses two cables within a group and four beyond.
#ifndef GRAPEVINE_SIM_PLATFORM_TWO_TIER_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_TWO_TIER_PLATFORM_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/spec.h"
#include "sim/platform/formula_platform.h"
#include "sim/platform/platform_options.h"

namespace grapevine {

struct TwoTierOptions {
  HostId hosts = 1;
  HostId group_size = 1;  // hosts of a group; the last may have fewer
  PlatformOptions host;
  // Of each group, unless there is only one.
  double uplink_bandwidth = 0;     // of each direction
  Nanoseconds uplink_latency = 0;  // one way, from group to group, beside that of the hosts
  std::string group_name;          // "rack"
  std::string core_name;
};

// Immutable.
class TwoTierPlatform final : public FormulaPlatform {
 public:
  TwoTierPlatform(std::string name, const TwoTierOptions& options);

  void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const override;
  std::optional<HostInterfaces> interfaces() const override;

 private:
  std::pair<std::string, std::string> Ends(CableId cable) const override;
  bool one_group() const { return options_.group_size >= options_.hosts; }
  CableId Uplink(HostId host) const { return hosts() + host / options_.group_size; }
  std::string GroupName(HostId group) const;

  const TwoTierOptions options_;
};

// switch: n hosts.
absl::StatusOr<std::shared_ptr<const Platform>> MakeSwitch(const Spec& spec, Rank n);
// racks:hosts=16:oversubscription=4: hosts in each rack, and how many times the
// bandwidth of its hosts is that of its uplink. racks=N sets their number;
// uplink-latency=TIME the latency from rack to rack, beside that of the hosts.
absl::StatusOr<std::shared_ptr<const Platform>> MakeRacks(const Spec& spec, Rank n);
// sites:sites=3:wan-bandwidth=1Gbit:wan-latency=30ms: each site has one WAN link of
// that goodput in each direction; the latency is one way, from site to site.
// hosts=N sets the hosts of each site.
absl::StatusOr<std::shared_ptr<const Platform>> MakeSites(const Spec& spec, Rank n);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_TWO_TIER_PLATFORM_H_
