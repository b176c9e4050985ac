// The faults of --chaos as they happen to simulated nodes. Pauses take virtual time, and a fault
// that ends a run of real nodes ends the simulation with the error of real nodes. With
// --on-failure=shrink, the others go on without a node that is killed, is stopped for
// --peer-timeout or sends a wrong bit.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHAOS_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHAOS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/chaos/fault_timeline.h"
#include "run/records/output_file.h"
#include "run/timing/compute_time.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"
#include "sim/network/network_model.h"

namespace grapevine {

// Thread-compatible. Must outlive the simulation, which it observes.
class SimulatedChaos final : public SimObserver {
 public:
  // Adds the faults that happen to chaos.jsonl of the run. The run begins in round `begin` at
  // `begin_time`; faults before that are over.
  static absl::StatusOr<std::unique_ptr<SimulatedChaos>> Make(const Experiment& experiment,
                                                              const std::string& run_directory,
                                                              Round begin, Nanoseconds begin_time);

  // Put parts of a simulation under these faults.
  std::unique_ptr<NetworkModel> Network(std::unique_ptr<NetworkModel> network,
                                        AlarmClock* clock) const;
  std::unique_ptr<const ComputeTime> Compute(std::unique_ptr<const ComputeTime> compute) const;

  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnDeath(Rank rank, Nanoseconds now) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;
  // Handles faults whose time has come, whatever the nodes are doing.
  absl::Status OnWake(Nanoseconds now) override;
  // Must be called when all nodes are about to begin in `round` of `simulation`, which has the
  // parts above. An error is the verdict of a fault that ends the run there.
  absl::Status Begin(Simulation* simulation, Round round);
  // Returns how the run has ended: `how`, or the verdict of a fault if that is why nodes wait for
  // what never comes.
  absl::Status Verdict(const absl::Status& how);

 private:
  SimulatedChaos(const Experiment& experiment, FaultSchedule faults,
                 std::unique_ptr<LineFile> record);

  // Returns whether a fault happens now. It happens once, though it may begin at several nodes. A
  // cut edge or a partition happens when it has begun at one node, as no message need pass after
  // that.
  bool IsFirst(const FaultTimeline::Begun& begun) const;
  // Records a fault. Returns its verdict if it ends the run.
  absl::Status Happen(const FaultTimeline::Begun& begun, Round round, Nanoseconds now);

  // Handles faults whose time has come.
  absl::Status TakeDue(Nanoseconds now);
  void WakeForNext();
  // Returns the nodes without which the others go on because of a fault; none if the fault passes
  // or ends the whole run.
  std::vector<Rank> LostBy(const Fault& fault) const;
  // Returns the nodes on the side of a partition that does not have the role of rank 0.
  std::vector<Rank> CutOff(const Fault& partition) const;
  // Returns the node that goes when two lose each other: the first, unless that is rank 0 or a
  // server. Each cut is judged by itself here; real nodes judge all of them together
  // (node/control/disputes.h).
  Rank OfTwo(const Fault& fault) const;
  // Makes the others go on without `rank`, which does nothing from then on.
  void Lose(Rank rank, const Fault& fault, Nanoseconds now);
  // Returns whether a fault has no effect, as it concerns a dead node.
  bool IsAboutTheDead(const Fault& fault) const;
  // Returns whether the two nodes of a fault have nothing to tell each other: both are workers of
  // servers, or both are servers.
  bool IsOfAnIdleEdge(const Fault& fault) const;

  // Returns how long what the fault stops may be silent.
  std::chrono::nanoseconds TimeoutOf(const Fault& fault) const {
    return fault.kind == FaultKind::kStop ? stop_timeout_ : peer_timeout_;
  }

  const std::chrono::nanoseconds peer_timeout_;
  // For a stopped node, whose heartbeats are regular here.
  const std::chrono::nanoseconds stop_timeout_;
  const uint64_t seed_;
  const bool shrinks_;
  const Rank workers_;  // the ranks from here on are servers
  const bool needs_rank_zero_;
  Simulation* simulation_ = nullptr;  // set once it begins
  const std::unique_ptr<LineFile> record_;
  FaultTimeline timeline_;
  std::set<Rank> killed_;                             // nodes that are killed and not dead yet
  std::map<Rank, std::chrono::nanoseconds> returns_;  // nodes that come back, and after what time
  // Cut edges and partitions, and the time until which they last.
  std::vector<std::pair<const Fault*, std::chrono::nanoseconds>> lasting_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHAOS_H_
