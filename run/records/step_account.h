// Divides the steps of one node into gradient, mixing and waiting, and names the peer for which it
// waited. The rule is the same for real and for simulated nodes.
//
// A step goes from boundary to boundary. Arithmetic before the end of the step's gradient runs in
// parallel with the gradient and counts once; the rest of the step is waiting. The whole wait is
// attributed to the sender of the round's last message if that message came after the gradient:
// with several neighbours, to the straggler among them.
//
// Thread-compatible.
#ifndef GRAPEVINE_RUN_RECORDS_STEP_ACCOUNT_H_
#define GRAPEVINE_RUN_RECORDS_STEP_ACCOUNT_H_

#include <chrono>
#include <optional>

#include "base/ids.h"

namespace grapevine {

class StepAccount {
 public:
  // Time since an arbitrary moment. All times of an account are of one clock.
  using Time = std::chrono::nanoseconds;

  struct Step {
    Time time{};
    Time gradient{};
    Time mix{};
    Time wait{};
    std::optional<Rank> awaited;  // the peer waited for; absent: no particular one
  };

  // Begins a step after `completed` rounds.
  void Begin(Round completed, Time now);
  // Adds a gradient of the step, which is over.
  void OnGradient(Time begin, Time end);
  // Adds a pass over vectors or the handling of a message, which took `took`.
  void OnArithmetic(Time took) { step_.mix += took; }
  // Notes the arrival of a message that was posted for in `round`. A message of a later round does
  // not count as one that this step waited for.
  void OnMessage(Rank from, Round round, Time arrived);
  // Excludes `rest` from the step: the time in which the node rested because it was not allowed to
  // go on.
  void Pause(Time rest) { began_ += rest; }
  // Ends the step, begins the next one after `completed` rounds, and returns the step that is over.
  Step End(Round completed, Time now);

  Round completed() const { return completed_; }

 private:
  Round completed_ = 0;
  Time began_{};
  Step step_;      // `wait` is set at its end
  Time hidden_{};  // arithmetic in parallel with the gradient
  Time gradient_end_{};
  Time last_arrival_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_STEP_ACCOUNT_H_
