#include "run/records/step_account.h"

#include <algorithm>

namespace grapevine {

void StepAccount::Begin(Round completed, Time now) {
  completed_ = completed;
  began_ = now;
  step_ = {};
  hidden_ = {};
}

void StepAccount::OnGradient(Time begin, Time end) {
  const Time time = end - begin;
  step_.gradient += time;
  gradient_end_ = end;
  hidden_ += std::min(step_.mix - hidden_, time);
}

void StepAccount::OnMessage(Rank from, Round round, Time arrived) {
  if (round != completed_) return;
  last_arrival_ = arrived;
  step_.awaited = from;
}

StepAccount::Step StepAccount::End(Round completed, Time now) {
  Step step = step_;
  step.time = now - began_;
  step.wait = std::max(Time{}, step.time - step.gradient - step.mix + hidden_);
  if (step.wait == Time{} || last_arrival_ <= gradient_end_) step.awaited.reset();
  Begin(completed, now);
  return step;
}

}  // namespace grapevine
