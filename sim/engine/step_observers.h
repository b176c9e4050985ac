// Observers that divide simulated steps into their parts (gradients, mixing, messages, waiting):
// their statistics and their trace.
//
// A step goes from boundary to boundary. Thread-compatible.
#ifndef GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_
#define GRAPEVINE_SIM_ENGINE_STEP_OBSERVERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "run/records/statistics.h"
#include "run/trace/run_trace.h"
#include "sim/engine/sim_observer.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Where the time of steps went, for whom nodes waited, and which links were busiest. Takes some 200
// bytes a node and a few additions an event, whatever the length of the run.
//
// Arithmetic before the end of the step's gradient runs in parallel with it and counts once; the
// rest of the step is waiting. All the waiting of a step is attributed to the sender of the round's
// last message, if that came after the gradient: with several neighbours, to the straggler among
// them. Four of the peers that a node waited for are kept; a new one replaces the least of them and
// inherits its time (the Space-Saving sketch of Metwally, Agrawal and El Abbadi 2005), so that with
// at most four neighbours all is exact.
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

 private:
  static constexpr Rank kNobody = -1;
  struct Wait {
    Rank peer = kNobody;
    Nanoseconds time = 0;
  };
  struct Node {
    // The current step.
    Round completed = 0;
    Nanoseconds began = 0;
    Nanoseconds gradient = 0;
    Nanoseconds gradient_end = 0;
    Nanoseconds mix = 0;
    Nanoseconds hidden = 0;  // arithmetic in parallel with the gradient
    Nanoseconds last_arrival = 0;
    Rank last_sender = kNobody;
    // All steps.
    Round before = 0;  // of an earlier run
    Round missed = 0;  // while the node was not in the run
    Nanoseconds total_gradient = 0;
    Nanoseconds total_mix = 0;
    Nanoseconds total_wait = 0;
    Nanoseconds caused = 0;  // waiting for this one by those that take steps
    std::array<Wait, 4> waits;
    int64_t bytes_sent = 0;
    int64_t bytes_received = 0;
  };

  // A step begins.
  void Begin(Node& node, Round completed, Nanoseconds now);
  bool TakesSteps(Rank rank) const { return options_.workers == 0 || rank < options_.workers; }
  void AddWait(Rank rank, Nanoseconds wait);
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
