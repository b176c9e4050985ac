// The simulated cluster of a configuration: its network, what takes a node's time besides
// gradients, and a measured time for gradients if none is given.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_

#include <chrono>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
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

  // For the simulation of an experiment.
  SimulationOptions options(const Experiment& experiment) const;
  // Null when links only carry bytes.
  const MessageEffects* effects() const { return effects_.get(); }
  const NetworkPlan& network() const { return *plan_; }

 private:
  SimulatedCluster() = default;

  SimulationOptions options_;
  std::unique_ptr<const MessageEffects> effects_;
  std::optional<NetworkPlan> plan_;
};

// The median of a few gradients of rank 0 on one thread of this machine, rounded to three digits.
// Only for a problem that learns.
absl::StatusOr<std::chrono::nanoseconds> MeasureGradient(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
