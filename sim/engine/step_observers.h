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

// Measures where the time of steps went and for which nodes others waited. Takes some 400 bytes a
// node and a few additions an event, whatever the length of the run.
//
// Steps are divided like those of real nodes (run/records/step_account.h). For each node, four of
// the peers that it waited for are kept: with at most four neighbours all is exact.
class StepStatistics final : public SimObserver {
 public:
  // The number of nodes that a large run lists.
  static constexpr size_t kMaxListed = 64;

  struct Options {
    Rank nodes = 1;
    // Ranks below this one take steps; those from here on are parameter servers. 0: all take steps.
    Rank workers = 0;
    // The capacity of each direction of each interface, in bytes per nanosecond; 0: unknown.
    double bandwidth = 0;
    // The time at which, and the round after which, the first step begins.
    Nanoseconds begin_time = 0;
    Round begin = 0;
    // The rounds that each rank has completed by then. Empty: `begin` rounds each.
    std::vector<Round> done = {};
  };
  explicit StepStatistics(const Options& options);

  void OnGradient(const GradientTimes& gradient) override;
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;

  // Returns the statistics so far.
  Statistics Result() const;
  int64_t bytes_received(Rank rank) const { return nodes_[rank].bytes_received; }
  // Returns the peers for which nodes that take steps have waited so far, by rank of the waiting
  // node.
  std::map<int64_t, AwaitedPeers> waits() const;
  // Returns the peers for which `rank` has waited since the last call.
  AwaitedPeers TakeWaits(Rank rank);

 private:
  static constexpr size_t kMostAwaited = 4;

  struct Node {
    StepAccount step;  // account of the current step
    // Totals over all steps.
    Round before = 0;  // rounds completed in an earlier run
    Round missed = 0;  // rounds missed while the node was not in the run
    Nanoseconds total_gradient = 0;
    Nanoseconds total_mix = 0;
    Nanoseconds total_wait = 0;
    Nanoseconds caused = 0;  // time that nodes that take steps waited for this one
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

// Returns the `most` busiest links, busiest first, without links that carried nothing. bytes[l]
// crossed link l within `time`. If `bytes` is empty, it is unknown what crossed.
std::vector<LinkStatistics> BusiestLinks(const Platform& platform, std::span<const double> bytes,
                                         Nanoseconds time, size_t most);

// Writes a simulation as a trace: what every node computed, sent, received and waited for.
class SimTrace final : public SimObserver {
 public:
  // `trace` must outlive this, and is finished by its owner.
  SimTrace(Rank nodes, ChromeTrace* trace);

  void OnGradient(const GradientTimes& gradient) override;
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;

 private:
  struct Node {
    Nanoseconds began = 0;         // begin of the current step
    Nanoseconds busy_until = 0;    // the exchange lane is busy until then
    Nanoseconds gradient_end = 0;  // end of the current step's gradient; -1 until it is done
    Rank last_sender = 0;
  };

  // Ends a wait, as the exchange lane goes on at `now`. The node waited for the last sender from
  // when its lane was free and its gradient done.
  void EndWait(Rank rank, Nanoseconds now);

  RunTrace trace_;
  std::vector<Node> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_
