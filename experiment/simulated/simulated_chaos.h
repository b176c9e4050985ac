// The faults of --chaos as they happen to simulated nodes: pauses take virtual time, and what ends
// a run of real nodes ends the simulation with their verdict; with --on-failure=shrink, the others
// go on without a node that is killed, stopped for --peer-timeout or sends a wrong bit.
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

// Thread-compatible. Outlives the simulation, which it observes.
class SimulatedChaos final : public SimObserver {
 public:
  // The faults that happen are added to chaos.jsonl of the run, which begins in a round at a time:
  // those before are over.
  static absl::StatusOr<std::unique_ptr<SimulatedChaos>> Make(const Experiment& experiment,
                                                              const std::string& run_directory,
                                                              Round begin, Nanoseconds begin_time);

  // Parts of a simulation under these faults.
  std::unique_ptr<NetworkModel> Network(std::unique_ptr<NetworkModel> network,
                                        AlarmClock* clock) const;
  std::unique_ptr<const ComputeTime> Compute(std::unique_ptr<const ComputeTime> compute) const;

  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnDeath(Rank rank, Nanoseconds now) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;
  // Faults at a time are looked at then, whatever the nodes are doing.
  absl::Status OnWake(Nanoseconds now) override;
  // All nodes are about to begin in this round of the simulation, which has the parts above. An
  // error is the verdict of a fault that ends the run there.
  absl::Status Begin(Simulation* simulation, Round round);
  // How the run has ended: where nodes wait for what never comes, because of a fault.
  absl::Status Verdict(const absl::Status& how);

 private:
  SimulatedChaos(const Experiment& experiment, FaultSchedule faults,
                 std::unique_ptr<LineFile> record);

  // Whether it happens now: once, though it may begin at several nodes. Of an edge, or between the
  // sides of a partition, nothing need pass any more once it has begun at one.
  bool IsFirst(const FaultTimeline::Begun& begun) const;
  // Records it; the verdict if it ends the run.
  absl::Status Happen(const FaultTimeline::Begun& begun, Round round, Nanoseconds now);

  // Faults whose time has come.
  absl::Status TakeDue(Nanoseconds now);
  void WakeForNext();
  // Whom the others go on without: nobody if it passes, or ends the run of all.
  std::vector<Rank> LostBy(const Fault& fault) const;
  // Those on the side of a partition that has not the role of rank 0.
  std::vector<Rank> CutOff(const Fault& partition) const;
  // Who goes when two lose each other: the first, unless that is rank 0 or a server. Each cut is
  // judged by itself here, where real nodes judge all of them together (node/control/disputes.h).
  Rank OfTwo(const Fault& fault) const;
  // The others go on without it, which does nothing from then on.
  void Lose(Rank rank, const Fault& fault, Nanoseconds now);
  // Nothing comes of it.
  bool IsAboutTheDead(const Fault& fault) const;
  // Its two nodes have nothing to tell each other: both are workers of servers, or servers.
  bool IsOfAnIdleEdge(const Fault& fault) const;

  // How long what it stops may be silent.
  std::chrono::nanoseconds TimeoutOf(const Fault& fault) const {
    return fault.kind == FaultKind::kStop ? stop_timeout_ : peer_timeout_;
  }

  const std::chrono::nanoseconds peer_timeout_;
  const std::chrono::nanoseconds stop_timeout_;  // of a node, whose heartbeats are regular here
  const uint64_t seed_;
  const bool shrinks_;
  const Rank workers_;  // the ranks from here on are servers
  const bool needs_rank_zero_;
  Simulation* simulation_ = nullptr;  // once it begins
  const std::unique_ptr<LineFile> record_;
  FaultTimeline timeline_;
  std::set<Rank> killed_;                             // and not dead yet
  std::map<Rank, std::chrono::nanoseconds> returns_;  // who comes back, and after what time
  // Edges that are cut, and partitions, until then.
  std::vector<std::pair<const Fault*, std::chrono::nanoseconds>> lasting_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHAOS_H_
