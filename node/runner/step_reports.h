// When a node that shares a budget of gradients with others says where it stands.
//
// Early enough that it never waits for more steps as long as there are any, seldom enough that
// rank 0 has little to do: when half of the steps that it had ahead of it are done, when it
// reaches its limit and comes to rest there, when it has measured; otherwise every kInterval.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_RUNNER_STEP_REPORTS_H_
#define GRAPEVINE_NODE_RUNNER_STEP_REPORTS_H_

#include <chrono>

#include "base/ids.h"

namespace grapevine {

// Where a node stands (control.proto).
struct StepsReport {
  Round steps = 0;       // of its own
  bool resting = false;  // at its limit
  Round cut = 0;         // the last nominal round that it has measured

  friend bool operator==(const StepsReport&, const StepsReport&) = default;
};

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

#endif  // GRAPEVINE_NODE_RUNNER_STEP_REPORTS_H_
