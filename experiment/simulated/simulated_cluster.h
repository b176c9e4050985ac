// The simulated cluster of a configuration: its network, what takes a node's time besides
// gradients, and measured costs of gradients and of mixing where none are given.
//
// Functions are safe from any thread; those that measure take one for themselves.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/config/config.pb.h"
#include "sim/engine/simulation.h"
#include "sim/network/network_model.h"
#include "sim/network/network_plan.h"

namespace grapevine {

// Immutable once made. Must outlive the simulations on it.
class SimulatedCluster {
 public:
  // Errors are kUsage or kInput and name the flag or the file.
  static absl::StatusOr<std::unique_ptr<SimulatedCluster>> Make(const Config& config);

  // Returns the options for the simulation of an experiment.
  SimulationOptions options(const Experiment& experiment) const;
  // Returns null when links only carry bytes.
  const MessageEffects* effects() const { return effects_.get(); }
  const NetworkPlan& network() const { return *plan_; }

 private:
  SimulatedCluster() = default;

  SimulationOptions options_;
  std::unique_ptr<const MessageEffects> effects_;
  std::optional<NetworkPlan> plan_;
};

// Returns the median of a few gradients of rank 0 on one thread of this machine, rounded to three
// digits. Only for a problem that learns.
absl::StatusOr<std::chrono::nanoseconds> MeasureGradient(const Experiment& experiment);

// Returns the memory bandwidth that was measured together with --compute, as a value of
// --memory-bandwidth. Mixing runs at this bandwidth unless one is given. Absent if --compute is no
// profile that has it. Errors are those of ProfiledDevice (run/timing/compute_profile.h).
absl::StatusOr<std::optional<std::string>> MeasuredMemoryBandwidth(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CLUSTER_H_
