// Groups of hosts, each around a switch, and a core that joins the groups: one switch, racks with
// oversubscribed uplinks, sites with a WAN between them.
//
// A host's cable goes to the switch of its group, and each group has one uplink to the core; the
// switches and the core themselves are never a bottleneck. A message crosses two cables within a
// group and four beyond.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {
namespace {

struct TwoTierOptions {
  HostId hosts = 1;
  HostId group_size = 1;  // hosts in a group; the last may have fewer
  PlatformOptions host;
  // The uplink of each group, unless there is only one.
  double uplink_bandwidth = 0;  // bandwidth of each direction
  // One way, from group to group, added to the latency of the hosts.
  Nanoseconds uplink_latency = 0;
  std::string group_name;  // "rack"
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
// racks:hosts=16:oversubscription=4: hosts in each rack, and the ratio of its hosts' bandwidth to
// that of its uplink. racks=N sets the number of racks; uplink-latency=TIME the latency from rack
// to rack, in addition to that of the hosts.
absl::StatusOr<std::shared_ptr<const Platform>> MakeRacks(const Spec& spec, Rank n);
// sites:sites=3:wan-bandwidth=1Gbit:wan-latency=30ms: each site has one WAN link of
// that goodput in each direction; the latency is one way, from site to site.
// hosts=N sets the hosts of each site.
absl::StatusOr<std::shared_ptr<const Platform>> MakeSites(const Spec& spec, Rank n);

constexpr Rank kMaxRanks = std::numeric_limits<Rank>::max();

Cables MakeCables(const TwoTierOptions& options) {
  const HostId groups = (options.hosts + options.group_size - 1) / options.group_size;
  Cables cables(options.host.half_duplex);
  cables.Reserve(static_cast<size_t>(options.hosts) + groups);
  for (HostId host = 0; host < options.hosts; ++host) {
    cables.AddHalf(options.host.bandwidth, options.host.latency);
  }
  if (groups == 1) return cables;
  for (HostId group = 0; group < groups; ++group) {
    cables.AddHalf(options.uplink_bandwidth, options.uplink_latency);
  }
  return cables;
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::string TimeText(Nanoseconds time) { return FormatDuration(std::chrono::nanoseconds(time)); }

TwoTierPlatform::TwoTierPlatform(std::string name, const TwoTierOptions& options)
    : FormulaPlatform(std::move(name), options.hosts, MakeCables(options), options.host.loopback),
      options_(options) {}

void TwoTierPlatform::AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const {
  links->push_back(cables().Forth(from));
  if (!one_group() && Uplink(from) != Uplink(to)) {
    links->push_back(cables().Forth(Uplink(from)));
    links->push_back(cables().Back(Uplink(to)));
  }
  links->push_back(cables().Back(to));
}

std::optional<HostInterfaces> TwoTierPlatform::interfaces() const {
  if (!one_group()) return std::nullopt;
  return HostInterfaces{.bandwidth = options_.host.bandwidth,
                        .latency = options_.host.latency,
                        .half_duplex = options_.host.half_duplex};
}

std::pair<std::string, std::string> TwoTierPlatform::Ends(CableId cable) const {
  const auto host = static_cast<HostId>(cable);
  if (host >= hosts()) return {GroupName(host - hosts()), options_.core_name};
  return {HostName(host), GroupName(host / options_.group_size)};
}

std::string TwoTierPlatform::GroupName(HostId group) const {
  return one_group() ? "switch" : absl::StrCat(options_.group_name, group);
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeSwitch(const Spec& spec, Rank n) {
  PlatformReader reader(spec);
  const TwoTierOptions options{.hosts = n, .group_size = n, .host = PlatformOptions::Read(reader)};
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckHosts(spec, n, n));
  return std::make_shared<TwoTierPlatform>("switch" + options.host.Text(), options);
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeRacks(const Spec& spec, Rank n) {
  PlatformReader reader(spec);
  TwoTierOptions options{
      .host = PlatformOptions::Read(reader), .group_name = "rack", .core_name = "core"};
  const int64_t size = reader.fields().Integer("hosts", 16, 1, kMaxRanks);
  const int64_t racks = reader.fields().Integer("racks", CeilDivide(n, size), 1, kMaxRanks);
  const double oversubscription = reader.fields().Real("oversubscription", 1, 1e-3, 1e6);
  options.uplink_latency = reader.Latency("uplink-latency", options.host.latency);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckHosts(spec, racks * size, n));
  options.hosts = static_cast<HostId>(racks * size);
  options.group_size = static_cast<HostId>(size);
  options.uplink_bandwidth = static_cast<double>(size) * options.host.bandwidth / oversubscription;
  return std::make_shared<TwoTierPlatform>(
      absl::StrCat("racks:hosts=", size, ":racks=", racks, ":oversubscription=", oversubscription,
                   ":uplink-latency=", TimeText(options.uplink_latency), options.host.Text()),
      options);
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeSites(const Spec& spec, Rank n) {
  PlatformReader reader(spec);
  TwoTierOptions options{
      .host = PlatformOptions::Read(reader), .group_name = "site", .core_name = "wan"};
  const int64_t sites = reader.fields().Integer("sites", 3, 1, kMaxRanks);
  const int64_t size = reader.fields().Integer("hosts", CeilDivide(n, sites), 1, kMaxRanks);
  options.uplink_bandwidth = reader.Bandwidth("wan-bandwidth", 0.125);
  options.uplink_latency = reader.Latency("wan-latency", 30'000'000);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckHosts(spec, sites * size, n));
  options.hosts = static_cast<HostId>(sites * size);
  options.group_size = static_cast<HostId>(size);
  return std::make_shared<TwoTierPlatform>(
      absl::StrCat("sites:sites=", sites, ":hosts=", size,
                   ":wan-bandwidth=", FormatBandwidth(BitsPerSecond(options.uplink_bandwidth)),
                   ":wan-latency=", TimeText(options.uplink_latency), options.host.Text()),
      options);
}

const Registration kSwitch(Platforms(), {.name = "switch",
                                         .help = "all hosts on one switch",
                                         .examples = {"switch", "switch:duplex=half"},
                                         .make = MakeSwitch});
const Registration kRacks(Platforms(), {.name = "racks",
                                        .options = "[:hosts=16][:oversubscription=4]",
                                        .help = "switches behind oversubscribed uplinks",
                                        .examples = {"racks:hosts=3", "racks:hosts=5:racks=4"},
                                        .make = MakeRacks});
const Registration kSites(Platforms(),
                          {.name = "sites",
                           .options = "[:sites=3][:wan-bandwidth=1Gbit][:wan-latency=30ms]",
                           .help = "sites with a WAN between them",
                           .examples = {"sites", "sites:sites=4:hosts=3"},
                           .make = MakeSites});

}  // namespace
}  // namespace grapevine
