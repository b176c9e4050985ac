// Divides the steps of one node into gradient, mixing and waiting, and says for whom it waited: one
// rule for real and for simulated nodes.
//
// A step goes from boundary to boundary. Arithmetic before the end of the step's gradient runs in
// parallel with it and counts once; the rest of the step is waiting. All of that is attributed to
// the sender of the round's last message, if that came after the gradient: with several neighbours,
// to the straggler among them.
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
  // Since any moment, of one clock.
  using Time = std::chrono::nanoseconds;

  struct Step {
    Time time{};
    Time gradient{};
    Time mix{};
    Time wait{};
    std::optional<Rank> awaited;  // for whom; none: for nobody in particular
  };

  // A step begins, behind so many rounds.
  void Begin(Round completed, Time now);
  // A gradient of it is over.
  void OnGradient(Time begin, Time end);
  // A pass over vectors, or the handling of a message, has taken so long.
  void OnArithmetic(Time took) { step_.mix += took; }
  // A message has come that was posted for in `round`; one of a later round does not end this one.
  void OnMessage(Rank from, Round round, Time arrived);
  // So much of it was spent at rest, for want of leave to go on: it is no part of the step.
  void Pause(Time rest) { began_ += rest; }
  // It is over, and the next one begins.
  Step End(Round completed, Time now);

  Round completed() const { return completed_; }

 private:
  Round completed_ = 0;
  Time began_{};
  Step step_;      // `wait` is known at its end
  Time hidden_{};  // arithmetic in parallel with the gradient
  Time gradient_end_{};
  Time last_arrival_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_STEP_ACCOUNT_H_
