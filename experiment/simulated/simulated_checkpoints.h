// Takes checkpoints of a simulated run (run/checkpoint/), at no simulated time: each node's part as
// soon as it is complete, and the manifest once all are there.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHECKPOINTS_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHECKPOINTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_checkpoints.h"
#include "kernels/vector/shared_vector.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/checkpoint/node_state.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"
#include "sim/engine/vector_store.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// Thread-compatible. Memory: the models of the checkpoints under way, and the states that wait for
// messages.
class SimulatedCheckpoints final : public SimObserver {
 public:
  struct Parts {
    const Experiment* experiment;
    CheckpointManifest manifest;  // the experiment's (ManifestOf)
    Simulation* simulation;
    VectorStore* vectors;
    std::string run_directory;
    CheckpointInterval every;
    // The run ends with the next one once set; may be null.
    const std::atomic<bool>* terminated = nullptr;
    Nanoseconds begin_time = 0;  // of this run, which may go on from a checkpoint
    // Adds what the manifest of its round says of the run until then.
    std::function<void(CheckpointManifest*)> describe;
    // Before a checkpoint is completed: all that the run's files say of it is to be in them.
    std::function<absl::Status()> write_metrics;
    // What a node has sent and received in the rounds before `completed`.
    std::function<int64_t(Rank)> bytes_sent;
    std::function<int64_t(Rank, Round completed)> bytes_received;
  };
  // All outlive this.
  explicit SimulatedCheckpoints(Parts parts)
      : parts_(std::move(parts)), saved_(SavedRounds(parts_.every)), last_(parts_.begin_time) {}

  void OnReceived(Rank rank, const Received& event) override;
  void OnLost(Rank rank, const Lost& event) override;
  absl::Status OnCut(const CutTimes& cut, Vec model) override;
  // Of nodes that go through no rounds together: when they save (View::checkpoint).
  absl::Status OnCheckpoint(const CutTimes& cut, Vec model) override;
  // Checkpoints under way are without that node, whatever it has saved.
  absl::Status OnDeath(Rank rank, Nanoseconds now) override;
  // Those of rounds before are without whoever comes in.
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;
  // After the run. Where all nodes have come to rest, so have their messages, and what was begun is
  // completed; otherwise it is no checkpoint, and removed.
  absl::Status Finish();

 private:
  // A checkpoint under way.
  struct Open {
    std::string path;
    CheckpointManifest manifest;
    std::map<Rank, std::unique_ptr<StateSaver>> savers;  // of nodes that are past the round
    std::map<Rank, SharedVector> models;                 // of the workers
    std::map<Rank, CheckpointPart> parts;                // that are begun
    std::set<Rank> written;                              // of those
  };

  // Whether all nodes save after this round. By the time, and if the run is to end, the first node
  // that completes it decides.
  bool Saves(const CutTimes& cut);
  // The first node has completed this round.
  void Decide(const CutTimes& cut);
  // Nodes that go through no rounds together renew their view for a checkpoint that is due, once
  // all have been measured by then, and none before it is under way.
  void Renew(const CutTimes& cut);
  absl::Status Begin(Round round, Open* open);
  absl::Status Save(const CutTimes& cut, Vec model, Open* open);
  absl::Status WriteWhatIsComplete();
  // Writes the part of a node whose state is complete; completes the checkpoint with the last one.
  absl::Status WriteIfComplete(Rank rank, Round round);
  // How many nodes that live were in the run before the round was over.
  Rank Savers(Round round) const;
  // Completes it if all of those have their parts.
  absl::Status CompleteIfAll(Round round);
  absl::Status Complete(const Open& open);
  absl::Status WriteModel(const Open& open, CheckpointManifest* manifest) const;

  const Parts parts_;
  const std::function<bool(Round)> saved_;
  Round furthest_ = 0;         // completed by any node
  Nanoseconds last_;           // when the last one was decided by the time
  std::set<Round> called_;     // these, until they are complete
  std::optional<Round> due_;   // the one for which views are to be renewed
  bool renewing_ = false;      // nobody has begun the view that is for it
  std::map<Rank, Round> cut_;  // in which round each was measured last
  std::optional<Round> end_;   // the run ends with this one
  std::map<Round, Open> open_;
  std::map<Rank, Round> begun_;  // of those who have come in, in which round
  bool changed_ = false;         // nodes were lost
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHECKPOINTS_H_
