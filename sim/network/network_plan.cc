#include "sim/network/network_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/spec.h"
#include "base/status.h"
#include "sim/network/fluid_networks.h"
#include "sim/network/packet_network.h"
#include "sim/platform/placement.h"
#include "sim/platform/platform_request.h"

namespace grapevine {
namespace {

// The bytes that Linux lets a connection have in the queue of an interface, at least (TCP small
// queues): two packets.
constexpr double kQueued = 2 * 1460;

constexpr const char* kNetworkModels[] = {"auto", "nic", "queue", "packets", "packets:control=reno",
                                          "flow"};

bool OneRankPerHost(const std::vector<HostId>& hosts, HostId count) {
  std::vector<bool> taken(count, false);
  for (const HostId host : hosts) {
    if (taken[host]) return false;
    taken[host] = true;
  }
  return true;
}

// Returns why the nic model cannot represent the network; empty when it can.
std::string WhyNotNic(const Platform& platform, const std::vector<HostId>& hosts) {
  if (!platform.interfaces()) {
    return absl::StrCat("it is for one switch, and the network is ", platform.name());
  }
  if (!OneRankPerHost(hosts, platform.hosts())) return "some ranks share a host";
  return "";
}

}  // namespace

std::span<const char* const> NetworkModels() { return kNetworkModels; }

std::unique_ptr<NetworkModel> NetworkPlan::Make(AlarmClock* clock) const {
  if (is_flow_level()) return std::make_unique<FlowNetwork>(platform_, hosts_, clock);
  const HostInterfaces interfaces = *platform_->interfaces();
  const auto nodes = static_cast<Rank>(hosts_->size());
  if (has_packets()) {
    return std::make_unique<PacketNetwork>(
        nodes,
        PacketOptions{
            .bandwidth = interfaces.bandwidth,
            .latency = interfaces.latency,
            .control = model_ == "packets" ? CongestionControl::kCubic : CongestionControl::kReno},
        clock);
  }
  return std::make_unique<NicNetwork>(nodes,
                                      NicOptions{.bandwidth = interfaces.bandwidth,
                                                 .latency = interfaces.latency,
                                                 .half_duplex = interfaces.half_duplex,
                                                 .queued = model_ == "queue" ? kQueued : 0},
                                      clock);
}

std::string NetworkPlan::description() const {
  return absl::StrCat(platform_->name(), ", model ", model_);
}

absl::StatusOr<NetworkPlan> MakeNetworkPlan(const NetworkRequest& request) {
  if (std::ranges::find(kNetworkModels, request.model) == std::end(kNetworkModels)) {
    return SpecError(request.model, absl::StrCat("no such network model; there are ",
                                                 absl::StrJoin(kNetworkModels, ", ")));
  }
  ASSIGN_OR_RETURN(const Placement placement, ParsePlacement(request.placement));
  ASSIGN_OR_RETURN(std::shared_ptr<const Platform> platform,
                   MakePlatform({.network = request.network,
                                 .bandwidth = request.bandwidth,
                                 .latency = request.latency,
                                 .half_duplex = request.half_duplex,
                                 .hosts = HostsFor(placement, request.nodes)}));
  ASSIGN_OR_RETURN(std::vector<HostId> hosts,
                   PlaceRanks(placement, request.nodes, *platform, request.seed));
  RETURN_IF_ERROR(platform->CheckConnected(hosts));
  const std::string why_not_nic = WhyNotNic(*platform, hosts);
  NetworkPlan plan;
  plan.model_ = request.model;
  if (request.model == "auto") plan.model_ = why_not_nic.empty() ? "nic" : "flow";
  if (!plan.is_flow_level() && !why_not_nic.empty()) {
    return SpecError(request.model, absl::StrCat("no model of this network: ", why_not_nic,
                                                 "; take --network-model=flow or auto"));
  }
  if (plan.model_ != "nic" && !plan.is_flow_level() && platform->interfaces()->half_duplex) {
    return SpecError(request.model, "no model of half-duplex interfaces; take --network-model=nic");
  }
  plan.platform_ = std::move(platform);
  plan.hosts_ = std::make_shared<const std::vector<HostId>>(std::move(hosts));
  return plan;
}

}  // namespace grapevine
