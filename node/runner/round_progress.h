// What a node and rank 0 settle about its progress: how far it may go before it hears more
// (RoundLeave), and when it says how far it has come (StepReports).
#ifndef GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_
#define GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "system/mutex.h"

namespace grapevine {

// How far a node may go through its rounds before it hears more, where rank 0 may ask it: so that
// rank 0 can name a round that no node has completed (node/control/coordinated_checkpoints.h).
//
// The algorithm gets leave for a few rounds ahead of those that it has completed (RoundLimit). A
// node that is asked answers at once with the leave that it has, also when its runner is busy or
// has ended, and gets no more until it is released. Nobody waits for that while an exchange with
// rank 0 takes less time than the rounds ahead: kAhead, or those that it works on at once.
//
// Thread-safe.
class RoundLeave {
 public:
  // How much of it there is: for all rounds below the limit, where nobody asks; for some ahead,
  // where rank 0 may, and at `least` those that the node works on at once; or for one, so that the
  // run can end wherever it is (node/control/closing.h).
  enum class Extent { kAll, kSomeAhead, kOne };
  explicit RoundLeave(Extent extent, Round least = 1)
      : extent_(extent), least_(least), ahead_(least) {}

  // The algorithm begins after so many rounds; returns what it has leave for: the rounds below.
  Round Begin(Round completed, Round limit);
  // New leave, if there is some: the run's limit has moved; so many rounds are completed, the last
  // of which took so long; nobody waits for this node's answer any more.
  std::optional<Round> OnLimit(Round limit);  // inwards only where the extent is kOne
  std::optional<Round> OnCompleted(Round completed, std::chrono::nanoseconds last);
  std::optional<Round> Release(uint32_t ballot);

  // There is no new leave until what is held under this ballot, or a later one, is released;
  // returns what there is.
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
  std::optional<uint32_t> held_ ABSL_GUARDED_BY(mutex_);  // the last ballot
};

// Where a node stands that shares a budget of gradients with others (control.proto).
struct StepsReport {
  Round steps = 0;       // of its own
  bool resting = false;  // at its limit
  Round cut = 0;         // the last nominal round that it has measured

  friend bool operator==(const StepsReport&, const StepsReport&) = default;
};

// When such a node says so: early enough that it never waits for more steps as long as there are
// any, seldom enough that rank 0 has little to do: when half of the steps that it had ahead of it
// are done, when it reaches its limit and comes to rest there, when it has measured; otherwise
// every kInterval.
//
// Thread-compatible.
class StepReports {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kInterval{50};

  // The node's limit has moved.
  void OnLimit(Round limit);
  // Whether to say now that the node stands there.
  bool Due(const StepsReport& report, Time now);

 private:
  bool Matters(const StepsReport& report, Time now) const;

  Round limit_ = 0;
  Round ahead_ = 0;   // of it when it last heard or spoke
  StepsReport told_;  // last
  Time told_at_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_ROUND_PROGRESS_H_
