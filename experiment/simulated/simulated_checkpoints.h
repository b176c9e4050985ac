// Takes checkpoints of a simulated run (run/checkpoint/), at no simulated time. Writes each node's
// part as soon as it is complete, and the manifest once all parts are written.
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
    CheckpointManifest manifest;  // manifest of the experiment (ManifestOf)
    Simulation* simulation;
    VectorStore* vectors;
    std::string run_directory;
    CheckpointInterval every;
    // Once set, the run ends with the next checkpoint. May be null.
    const std::atomic<bool>* terminated = nullptr;
    Nanoseconds begin_time = 0;  // start of this run, which may continue from a checkpoint
    // Adds to a manifest what it says of the run until its round.
    std::function<void(CheckpointManifest*)> describe;
    // Called before a checkpoint is completed, to write all that the run's files say of the run
    // until then.
    std::function<absl::Status()> write_metrics;
    // Return what a node has sent, and what it has received in the rounds before `completed`; in
    // bytes.
    std::function<int64_t(Rank)> bytes_sent;
    std::function<int64_t(Rank, Round completed)> bytes_received;
  };
  // All that is pointed to must outlive this.
  explicit SimulatedCheckpoints(Parts parts)
      : parts_(std::move(parts)), saved_(SavedRounds(parts_.every)), last_(parts_.begin_time) {}

  void OnReceived(Rank rank, const Received& event) override;
  void OnLost(Rank rank, const Lost& event) override;
  absl::Status OnCut(const CutTimes& cut, Vec model) override;
  // Saves the state of a node, where nodes go through no rounds together (View::checkpoint).
  absl::Status OnCheckpoint(const CutTimes& cut, Vec model) override;
  // Leaves the node out of the checkpoints under way, whatever it has saved.
  absl::Status OnDeath(Rank rank, Nanoseconds now) override;
  // Leaves a newcomer out of the checkpoints of earlier rounds.
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;
  // Must be called after the run. If all nodes have come to rest, no message is under way, and what
  // was begun is completed. Checkpoints that are not complete are removed.
  absl::Status Finish();

 private:
  // A checkpoint under way.
  struct Open {
    std::string path;
    CheckpointManifest manifest;
    std::map<Rank, std::unique_ptr<StateSaver>> savers;  // for nodes that are past the round
    std::map<Rank, SharedVector> models;                 // models of the workers
    std::map<Rank, CheckpointPart> parts;                // parts that are begun
    std::set<Rank> written;                              // nodes whose parts are written
  };

  // Returns whether all nodes save after this round. If the time decides, or the run is to end, the
  // first node that completes the round decides for all.
  bool Saves(const CutTimes& cut);
  // Decides for all nodes whether they save. Called for the first node that completes this round.
  void Decide(const CutTimes& cut);
  // Renews the view of nodes that go through no rounds together, for a checkpoint that is due. Does
  // so once all nodes have been measured in its round, and while no earlier checkpoint is under
  // way.
  void Renew(const CutTimes& cut);
  absl::Status Begin(Round round, Open* open);
  absl::Status Save(const CutTimes& cut, Vec model, Open* open);
  absl::Status WriteWhatIsComplete();
  // Writes the part of a node whose state is complete; completes the checkpoint with the last one.
  absl::Status WriteIfComplete(Rank rank, Round round);
  // Returns how many living nodes were in the run before the round was over.
  Rank Savers(Round round) const;
  // Completes the checkpoint if all nodes that Savers counts have written their parts.
  absl::Status CompleteIfAll(Round round);
  absl::Status Complete(const Open& open);
  absl::Status WriteModel(const Open& open, CheckpointManifest* manifest) const;

  const Parts parts_;
  const std::function<bool(Round)> saved_;
  Round furthest_ = 0;         // the last round completed by any node
  Nanoseconds last_;           // when the time last decided on a checkpoint
  std::set<Round> called_;     // rounds that were decided on, until their checkpoints are complete
  std::optional<Round> due_;   // round of the checkpoint for which views are to be renewed
  bool renewing_ = false;      // no node has begun the renewed view
  std::map<Rank, Round> cut_;  // the round in which each node was measured last
  std::optional<Round> end_;   // round of the checkpoint with which the run ends
  std::map<Round, Open> open_;
  std::map<Rank, Round> begun_;  // the first rounds of nodes that have joined
  bool changed_ = false;         // whether nodes were lost
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_CHECKPOINTS_H_
