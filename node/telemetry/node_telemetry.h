// NodeTelemetry keeps what a node shows to monitoring: of itself, and of its run where the node has
// rank 0's role. All of it is measured anyway, for the files of the run; NodeTelemetry keeps the
// last values.
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

// The properties of a node that do not change while it runs.
struct NodeDescription {
  Rank rank = 0;
  Rank nodes = 1;                          // the number of nodes with which the run was begun
  std::optional<Round> rounds;             // the rounds that the run is to have, if known
  std::string topology, algorithm, model;  // canonical specs
  std::string version, revision;           // the program's
};

// A histogram of how long rounds took.
struct RoundDurations {
  // The upper end of each interval, in seconds; longer rounds have a count of their own, the last.
  static constexpr std::array<double, 16> kBounds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};
  std::array<int64_t, kBounds.size() + 1> counts = {};
  std::chrono::nanoseconds sum{};

  void Add(std::chrono::nanoseconds time);
};

// The last complete checkpoint.
struct CheckpointFigures {
  // The round that the checkpoint follows; before the first checkpoint, the round at which this
  // process came into the run.
  Round round = 0;
  // The time since the checkpoint was complete; before the first, since this process has been in
  // the run.
  double age_s = 0;
};

// The run, as the node with rank 0's role sees it.
struct RunFigures {
  RunMetrics latest;  // the last value of each measurement
  Rank living = 0;    // the number of nodes that are not lost
};

// A node's figures at one moment. Totals count from the beginning of this process: they do not
// include what earlier processes of a run that goes on have done.
struct NodeFigures {
  bool ready = false;  // whether the node is in the run: all nodes have found each other
  Round round = 0;     // rounds completed; own steps where nodes share a budget of gradients
  RoundDurations durations;
  int64_t bytes_sent = 0, bytes_received = 0;  // payload of the algorithm's messages
  // The time waited for each peer, in the rounds in which its message came last.
  std::map<Rank, std::chrono::nanoseconds> waited;

  // The node's last line in its metrics.jsonl, and totals up to that line.
  std::optional<NodeMetrics> line;
  int64_t samples = 0;
  double gradient_s = 0, mix_s = 0, wait_s = 0;

  std::optional<CheckpointFigures> checkpoint;  // set if the run keeps checkpoints
  std::map<Rank, bool> connected;               // by neighbour that the node sends to
  std::vector<Rank> awaited;                    // the ranks for which the node waits
  std::optional<RunFigures> run;
};

// Keeps the figures that only the node's threads know, as they arise. Each call takes a lock that
// is never held for long and makes a few additions, once or twice a round.
//
// Thread-safe.
class NodeTelemetry {
 public:
  using Clock = std::chrono::steady_clock;

  // The node comes into the run, of which `round` rounds are completed.
  void Begin(Round round, bool keeps_checkpoints, Clock::time_point now);
  // Sets the bytes that earlier processes of this rank sent and received. To be called before the
  // first round.
  void CountFrom(int64_t bytes_sent, int64_t bytes_received);
  void OnRound(Round completed, std::chrono::nanoseconds time);
  // The node has waited for `time` in a round, until the message of `peer` came.
  void OnWait(Rank peer, std::chrono::nanoseconds time);
  // Takes the bytes sent and received since the run began, as in CutReport and in the node's lines.
  void OnTraffic(int64_t bytes_sent, int64_t bytes_received);
  // Takes what the node has measured since its last line, over `samples` samples.
  void OnLine(const NodeMetrics& line, int64_t samples);
  // The checkpoint after this round is complete.
  void OnCheckpoint(Round round, Clock::time_point now);

  // Returns the figures, without those that are kept elsewhere: of neighbours and of the run.
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
