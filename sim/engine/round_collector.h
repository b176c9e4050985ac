// Collects the rounds of virtual nodes into measurements of the whole run.
//
// A measured round is complete when its last node has done it; nodes run at different speeds, so
// several may be open. Memory: the replicas of the open rounds, where models are wanted.
#ifndef GRAPEVINE_SIM_ENGINE_ROUND_COLLECTOR_H_
#define GRAPEVINE_SIM_ENGINE_ROUND_COLLECTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "sim/nanoseconds.h"

namespace grapevine {

struct MeasuredRound {
  Round completed = 0;
  // When the last node had completed this round, and not before the time of the last measured
  // round, whose last node may have been lost since.
  Nanoseconds time = 0;
  double loss_sum = 0;               // sum over all nodes' passes since the last measurement
  int64_t passes = 0;                // number of these passes, each over a batch
  GradientNoise noise;               // noise of their gradients, if measured
  int64_t bytes_sent = 0;            // sent by all nodes, each until its own boundary
  std::vector<SharedVector> models;  // by rank, null for lost nodes; empty for a phantom
  Rank living = 0;                   // nodes that are not lost
};

// Thread-compatible.
class RoundCollector {
 public:
  struct Options {
    Rank nodes = 1;
    std::function<bool(Round completed)> measured;
  };
  // Called in ascending order of rounds; an error ends the simulation.
  using Emit = std::function<absl::Status(const MeasuredRound&)>;

  RoundCollector(Options options, Emit emit);

  // Adds a gradient. `loss` is the mean over `passes` passes.
  void OnGradient(Rank rank, double loss, int64_t passes, const GradientNoise& noise = {});
  // Notes that `rank` has completed a round. `model` is empty for a phantom.
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, int64_t bytes_sent,
                          const SharedVector& model);
  // Removes `rank`, which has sent `bytes_sent` bytes and does no more rounds. Rounds are complete
  // without it, and rounds that are still open are without its model. Its bytes count in all later
  // rounds.
  absl::Status Lose(Rank rank, int64_t bytes_sent);
  // Takes in a lost node, which does rounds again from `from` on.
  void TakeIn(Rank rank, Round from);

 private:
  struct Open {
    std::set<Rank> nodes;  // nodes that have completed it and are not lost
    MeasuredRound measured;
  };
  struct Gradients {
    double loss_sum = 0;
    int64_t passes = 0;
    GradientNoise noise;
  };

  struct Newcomer {
    Round from;
    int64_t bytes_sent;  // bytes sent before it was lost
  };
  // Return the number of nodes that do a round, and the bytes that the other nodes have sent.
  Rank NodesIn(Round completed) const;
  int64_t BytesOfOthers(Round completed) const;
  // Emits the oldest open rounds that all living nodes have completed.
  absl::Status EmitComplete();

  const Options options_;
  const Emit emit_;
  Rank living_;
  std::map<Rank, int64_t> lost_;  // lost nodes and the bytes that they have sent
  std::map<Rank, Newcomer> newcomers_;
  std::vector<Gradients> gradients_;  // by rank, since its last measured round
  std::map<Round, Open> open_;
  Nanoseconds last_ = 0;  // the time of the round that was emitted last
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_ROUND_COLLECTOR_H_
