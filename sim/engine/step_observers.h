// Observers that divide simulated steps into their parts (gradients, mixing, messages, waiting):
// their statistics and their trace.
//
// A step goes from boundary to boundary. Thread-compatible.
#ifndef GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_
#define GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "run/records/awaited_peers.h"
#include "run/records/statistics.h"
#include "run/records/step_account.h"
#include "run/trace/run_trace.h"
#include "sim/engine/sim_observer.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Where the time of steps went, for whom nodes waited, and which links were busiest. Takes some 400
// bytes a node and a few additions an event, whatever the length of the run.
//
// Steps are divided as those of real nodes are (run/records/step_account.h). Four of the peers that
// a node waited for are kept: with at most four neighbours all is exact.
class StepStatistics final : public SimObserver {
 public:
  // Large runs list this many nodes.
  static constexpr size_t kMaxListed = 64;

  struct Options {
    Rank nodes = 1;
    // Ranks below this one take steps; those from here on are parameter servers. 0: all take steps.
    Rank workers = 0;
    // The capacity of each direction of each interface, bytes per nanosecond; 0: not known.
    double bandwidth = 0;
    // When and behind which round the first step begins.
    Nanoseconds begin_time = 0;
    Round begin = 0;
    // What each rank has completed then; empty: all as much.
    std::vector<Round> done = {};
  };
  explicit StepStatistics(const Options& options);

  void OnGradient(const GradientTimes& gradient) override;
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;

  // So far.
  Statistics Result() const;
  int64_t bytes_received(Rank rank) const { return nodes_[rank].bytes_received; }
  // For whom those that take steps have waited so far, by rank.
  std::map<int64_t, AwaitedPeers> waits() const;
  // For whom this one has since the last call.
  AwaitedPeers TakeWaits(Rank rank);

 private:
  static constexpr size_t kMostAwaited = 4;

  struct Node {
    StepAccount step;  // the current one
    // All steps.
    Round before = 0;  // of an earlier run
    Round missed = 0;  // while the node was not in the run
    Nanoseconds total_gradient = 0;
    Nanoseconds total_mix = 0;
    Nanoseconds total_wait = 0;
    Nanoseconds caused = 0;  // waiting for this one by those that take steps
    AwaitedPeers waits{kMostAwaited};
    AwaitedPeers recent_waits{kMostAwaited};
    int64_t bytes_sent = 0;
    int64_t bytes_received = 0;
  };

  bool TakesSteps(Rank rank) const { return options_.workers == 0 || rank < options_.workers; }
  void AddWait(Rank rank, Rank awaited, Nanoseconds wait);
  NodeStatistics Describe(Rank rank) const;
  std::vector<Rank> Listed() const;

  const Options options_;
  std::vector<Node> nodes_;
  DurationHistogram steps_;
  Nanoseconds end_;
};

// The `most` busiest links, busiest first; those that carried nothing are left out. bytes[l]
// crossed link l within `time`; empty: not known.
std::vector<LinkStatistics> BusiestLinks(const Platform& platform, std::span<const double> bytes,
                                         Nanoseconds time, size_t most);

// A simulation as a trace: what every node computed, sent, received and waited for.
class SimTrace final : public SimObserver {
 public:
  // `trace` outlives this and is finished by its owner.
  SimTrace(Rank nodes, ChromeTrace* trace);

  void OnGradient(const GradientTimes& gradient) override;
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;

 private:
  struct Node {
    Nanoseconds began = 0;         // the current step
    Nanoseconds busy_until = 0;    // the exchange lane
    Nanoseconds gradient_end = 0;  // of the current step, -1 until it is done
    Rank last_sender = 0;
  };

  // The exchange lane goes on at `now`: the time before that, once the gradient was done, was
  // waiting for the last sender.
  void EndWait(Rank rank, Nanoseconds now);

  RunTrace trace_;
  std::vector<Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_
