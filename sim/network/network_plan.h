// Turns what the user says about the cluster's network into the model that carries a simulation's
// messages.
#ifndef GRAPEVINE_SIM_NETWORK_NETWORK_PLAN_H_
#define GRAPEVINE_SIM_NETWORK_NETWORK_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct NetworkRequest {
  // --network: a family, a preset or a file (platform_request.h).
  std::string network = "switch";
  // --network-model: "nic" (interfaces share equally; for one switch with one rank per host only),
  // "queue" (as nic, but the messages of a host end one after another), "packets" and
  // "packets:control=reno" (TCP segments in queues; for such a switch only), "flow" (max-min
  // fairness over all links), or "auto" (nic where it is possible, else flow).
  std::string model = "auto";
  // --bandwidth and --latency of the hosts' own cables. Set only if the user gave them, since they
  // replace a preset's and are refused for a file. A family without them has 1 Gbit and 50 us.
  std::optional<int64_t> bandwidth;    // bits a second, goodput of each direction
  std::optional<Nanoseconds> latency;  // one way, between hosts next to each other
  bool half_duplex = false;
  // --placement (placement.h).
  std::string placement = "order";
  Rank nodes = 1;
  uint64_t seed = 1;  // seed of a shuffled placement
};

// Immutable and cheap to copy; safe from any thread, so that the cells of a sweep
// can share one.
class NetworkPlan {
 public:
  // Makes the model of one simulation, for SimulationParts::make_network. The clock must outlive
  // the model.
  std::unique_ptr<NetworkModel> Make(AlarmClock* clock) const;

  bool is_flow_level() const { return model_ == "flow"; }
  // Returns whether messages travel in segments, so that windows and losses are the model's own.
  bool has_packets() const { return model_.starts_with("packets"); }
  const Platform& platform() const { return *platform_; }
  // Returns the host of every rank.
  const std::vector<HostId>& hosts() const { return *hosts_; }
  // Returns the plan with every default resolved: "switch:bandwidth=1Gbit:latency=50us, model nic".
  std::string description() const;

 private:
  friend absl::StatusOr<NetworkPlan> MakeNetworkPlan(const NetworkRequest& request);
  NetworkPlan() = default;

  std::shared_ptr<const Platform> platform_;
  std::shared_ptr<const std::vector<HostId>> hosts_;
  // The request's model, with "auto" replaced by the model that it means.
  std::string model_;
};

// Returns the values of --network-model.
std::span<const char* const> NetworkModels();

// Makes the plan for a request. Errors name the spec, file, line or rank at fault and what to do:
// kUsage for what was asked, kInput for the contents of files.
absl::StatusOr<NetworkPlan> MakeNetworkPlan(const NetworkRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NETWORK_PLAN_H_
