// The simulated cluster of a configuration: its network, and what beside gradients
// takes a node's time.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "sim/engine/simulation.h"
#include "sim/network/message_effect.h"
#include "sim/network/network_plan.h"

namespace grapevine {

// Immutable once made; outlives the simulations on it.
class SimulatedCluster {
 public:
  // Errors are kUsage or kInput and name the flag or the file.
  static absl::StatusOr<std::unique_ptr<SimulatedCluster>> Make(const Config& config);

  const SimulationOptions& options() const { return options_; }
  // Null when links only carry bytes.
  const MessageEffects* effects() const { return effects_.get(); }
  const NetworkPlan& network() const { return *plan_; }

 private:
  SimulatedCluster() = default;

  SimulationOptions options_;
  std::unique_ptr<const MessageEffects> effects_;
  std::optional<NetworkPlan> plan_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
