// What a node shows of itself, and of its run where it has rank 0's role, to whoever watches from
// outside. All of it is measured anyway, for the files of the run: this keeps the last of it.
#ifndef GRAPEVINE_NODE_TELEMETRY_NODE_TELEMETRY_H_
#define GRAPEVINE_NODE_TELEMETRY_NODE_TELEMETRY_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/ids.h"
#include "run/records/metrics.h"
#include "system/mutex.h"

namespace grapevine {

// What does not change while the node runs.
struct NodeDescription {
  Rank rank = 0;
  Rank nodes = 1;                          // that the run was begun with
  std::optional<Round> rounds;             // that the run is to have, where that is known
  std::string topology, algorithm, model;  // canonical specs
  std::string version, revision;           // of the program
};

// How long rounds took, counted by length.
struct RoundDurations {
  // Seconds, each interval's upper end; what is longer than the last has a count of its own.
  static constexpr std::array<double, 16> kBounds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};
  std::array<int64_t, kBounds.size() + 1> counts = {};
  std::chrono::nanoseconds sum{};

  void Add(std::chrono::nanoseconds time);
};

// The last complete checkpoint.
struct CheckpointFigures {
  Round round = 0;   // that it follows; the first of this process while there is none
  double age_s = 0;  // since it was complete, or since this process has been in the run
};

// The run, as who has rank 0's role sees it.
struct RunFigures {
  RunMetrics latest;  // the last value of each measurement
  Rank living = 0;    // nodes that are not lost
};

// As of one moment. Totals count from the beginning of this process: what a run that goes on has
// behind it is not among them.
struct NodeFigures {
  bool ready = false;  // in the run: all have found each other
  Round round = 0;     // completed; steps of its own where nodes share a budget of gradients
  RoundDurations durations;
  int64_t bytes_sent = 0, bytes_received = 0;       // payload of the algorithm's messages
  std::map<Rank, std::chrono::nanoseconds> waited;  // by peer, in rounds in which it came last

  // As of the node's last line in its metrics.jsonl.
  std::optional<NodeMetrics> line;
  int64_t samples = 0;
  double gradient_s = 0, mix_s = 0, wait_s = 0;

  std::optional<CheckpointFigures> checkpoint;  // where the run keeps some
  std::map<Rank, bool> connected;               // by neighbour that it sends to
  std::vector<Rank> awaited;                    // for whom it waits
  std::optional<RunFigures> run;
};

// Keeps those that only the node's threads know when they happen: a lock that nobody holds for
// long, a few additions, once or twice a round.
//
// Thread-safe.
class NodeTelemetry {
 public:
  using Clock = std::chrono::steady_clock;

  // The node is in the run from now on, which has so many rounds behind it.
  void Begin(Round round, bool keeps_checkpoints, Clock::time_point now);
  // Before the first round: processes before this one have sent and received so much.
  void CountFrom(int64_t bytes_sent, int64_t bytes_received);
  void OnRound(Round completed, std::chrono::nanoseconds time);
  // So much of a round was spent waiting, until this peer's message came.
  void OnWait(Rank peer, std::chrono::nanoseconds time);
  // Since the run began, as in CutReport and in the node's lines.
  void OnTraffic(int64_t bytes_sent, int64_t bytes_received);
  // What the node has measured since its last line, over so many samples.
  void OnLine(const NodeMetrics& line, int64_t samples);
  // A checkpoint after this round is complete.
  void OnCheckpoint(Round round, Clock::time_point now);

  // Without what others know: neighbours and the run.
  NodeFigures Read(Clock::time_point now) const;

 private:
  struct Checkpoint {
    Round round;
    Clock::time_point at;
  };

  mutable Mutex mutex_;
  NodeFigures figures_ ABSL_GUARDED_BY(mutex_);
  int64_t sent_before_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t received_before_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Checkpoint> checkpoint_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_NODE_TELEMETRY_H_
