// Settles between a node and rank 0 how far the node may go before it hears more (RoundLeave), and
// when the node says how far it has come (StepReports).
#ifndef GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_
#define GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "system/mutex.h"

namespace grapevine {

// The leave of a node to go through its rounds before it hears more, if rank 0 may ask about it. It
// lets rank 0 name a round that no node has completed (node/control/checkpoint_calls.h).
//
// The algorithm gets leave for a few rounds ahead of those that it has completed (RoundLimit). A
// node that is asked answers at once with the leave that it has, even if its runner is busy or has
// ended, and gets no more until it is released. No node waits because of that while an exchange
// with rank 0 takes less time than the rounds ahead: those of kAhead, or those that the node works
// on at once.
//
// Thread-safe.
class RoundLeave {
 public:
  // The amount of leave: kAll, for all rounds below the limit, if rank 0 does not ask; kSomeAhead,
  // for some rounds ahead, if rank 0 may ask, but for no fewer than `least`, the number that the
  // node works on at once; kOne, for one round, so that the run can end wherever it is
  // (node/control/closing.h).
  enum class Extent { kAll, kSomeAhead, kOne };
  explicit RoundLeave(Extent extent, Round least = 1)
      : extent_(extent), least_(least), ahead_(least) {}

  // Begins after `completed` rounds. Returns the first leave: the algorithm may do the rounds below
  // it.
  Round Begin(Round completed, Round limit);
  // Each returns new leave, if any. OnLimit: the run's limit has moved. OnCompleted: `completed`
  // rounds are over, the last of which took `last`. Release: rank 0 needs this node's answer no
  // more.
  std::optional<Round> OnLimit(Round limit);  // moves inwards only with kOne
  std::optional<Round> OnCompleted(Round completed, std::chrono::nanoseconds last);
  std::optional<Round> Release(uint32_t ballot);

  // Stops new leave until it is released under this ballot or a later one. Returns the present
  // leave.
  Round Hold(uint32_t ballot);
  Round granted() const;

  static constexpr std::chrono::milliseconds kAhead{500};
  static constexpr Round kMostAhead = 64;

 private:
  std::optional<Round> Grant() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Extent extent_;
  const Round least_;
  mutable Mutex mutex_;
  Round limit_ ABSL_GUARDED_BY(mutex_) = 0;
  Round completed_ ABSL_GUARDED_BY(mutex_) = 0;
  Round ahead_ ABSL_GUARDED_BY(mutex_);
  Round granted_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint32_t> held_ ABSL_GUARDED_BY(mutex_);  // the last ballot that holds
};

// The position of a node that shares a budget of gradients with others (control.proto).
struct StepsReport {
  Round steps = 0;       // number of its own steps
  bool resting = false;  // whether it rests at its limit
  Round cut = 0;         // the last nominal round that it has measured

  friend bool operator==(const StepsReport&, const StepsReport&) = default;
};

// Decides when a node with a shared budget reports its position: early enough that the node never
// waits for more steps while the budget has some, and seldom enough that rank 0 has little to do. A
// report is due when half of the steps that the node had ahead of it are done, when it reaches its
// limit and comes to rest there, and when it has measured; otherwise every kInterval.
//
// Thread-compatible.
class StepReports {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kInterval{50};

  // Reports that the node's limit has moved.
  void OnLimit(Round limit);
  // Returns whether the node should send `report` now. If so, the report counts as sent.
  bool Due(const StepsReport& report, Time now);

 private:
  bool Matters(const StepsReport& report, Time now) const;

  Round limit_ = 0;
  Round ahead_ = 0;   // steps ahead when the node last heard or reported
  StepsReport told_;  // the last report
  Time told_at_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_
