#include "node/runner/round_progress.h"

#include <algorithm>

namespace grapevine {

Round RoundLeave::Begin(Round completed, Round limit) {
  MutexLock lock(mutex_);
  completed_ = completed;
  limit_ = limit;
  Grant();
  return granted_;
}

std::optional<Round> RoundLeave::OnLimit(Round limit) {
  MutexLock lock(mutex_);
  limit_ = extent_ == Extent::kOne ? limit : std::max(limit_, limit);
  return Grant();
}

std::optional<Round> RoundLeave::OnCompleted(Round completed, std::chrono::nanoseconds last) {
  MutexLock lock(mutex_);
  completed_ = completed;
  if (extent_ == Extent::kOne) return Grant();
  ahead_ = std::clamp<Round>(kAhead / std::max(last, std::chrono::nanoseconds(1)), least_,
                             std::max(least_, kMostAhead));
  return Grant();
}

// A release under an earlier ballot does nothing: rank 0 has asked again before this node's thread
// came to the first answer.
std::optional<Round> RoundLeave::Release(uint32_t ballot) {
  MutexLock lock(mutex_);
  if (held_ && *held_ <= ballot) held_.reset();
  return Grant();
}

Round RoundLeave::Hold(uint32_t ballot) {
  MutexLock lock(mutex_);
  held_ = ballot;
  return granted_;
}

Round RoundLeave::granted() const {
  MutexLock lock(mutex_);
  return granted_;
}

std::optional<Round> RoundLeave::Grant() {
  const Round wanted = extent_ == Extent::kAll ? limit_ : std::min(limit_, completed_ + ahead_);
  if (held_ || wanted <= granted_) return std::nullopt;
  granted_ = wanted;
  return granted_;
}

void StepReports::OnLimit(Round limit) {
  limit_ = limit;
  ahead_ = limit - told_.steps;
}

bool StepReports::Due(const StepsReport& report, Time now) {
  if (!Matters(report, now)) return false;
  told_ = report;
  told_at_ = now;
  ahead_ = limit_ - report.steps;
  return true;
}

bool StepReports::Matters(const StepsReport& report, Time now) const {
  if (report.cut != told_.cut) return true;
  if (report.steps >= limit_ && report.resting && !(report == told_)) return true;
  if (report.steps == told_.steps) return false;
  return 2 * (limit_ - report.steps) <= ahead_ || now - told_at_ >= kInterval;
}

}  // namespace grapevine
