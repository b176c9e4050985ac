#include "experiment/core/run_course.h"

#include <glog/logging.h>

#include <limits>
#include <utility>

namespace grapevine {

RunCourse::RunCourse(RunPlan plan, Schedule rate)
    : rate_(std::move(rate)),
      plan_(std::move(plan)),
      settled_(plan_.batches.plateau() ? 0 : std::numeric_limits<Round>::max()) {}

RunPlan RunCourse::plan() const {
  MutexLock lock(mutex_);
  return plan_;
}

void RunCourse::Settle(Round limit, int64_t growth) {
  MutexLock lock(mutex_);
  if (limit <= settled_) return;
  plan_ = plan_.Grown(settled_, growth);
  settled_ = limit;
}

void RunCourse::GoOn(const View& view) {
  MutexLock lock(mutex_);
  if (view.epoch <= (views_.empty() ? 0 : views_.back().epoch)) return;
  views_.push_back(view);
  plan_ = plan_.Among(view.from, view.size());
}

std::optional<View> RunCourse::ViewAfter(uint32_t epoch) const {
  MutexLock lock(mutex_);
  for (const View& view : views_) {
    if (view.epoch > epoch) return view;
  }
  return std::nullopt;
}

Passes RunCourse::PassesIn(Round round) const {
  MutexLock lock(mutex_);
  CHECK_LT(round, settled_) << "the batch of round " << round << " is not settled";
  return plan_.PassesIn(round);
}

double RunCourse::LearningRate(Round round) const {
  MutexLock lock(mutex_);
  return rate_(plan_.batches.Before(round));
}

bool RunCourse::Evaluated(Round completed) const {
  MutexLock lock(mutex_);
  return plan_.Evaluated(completed);
}

bool RunCourse::Measured(Round completed) const {
  MutexLock lock(mutex_);
  return plan_.Measured(completed);
}

TrainingPoint RunCourse::At(Round completed) const {
  MutexLock lock(mutex_);
  return {.round = completed,
          .epoch = plan_.Epoch(completed),
          .learning_rate = rate_(plan_.batches.Before(completed - 1))};
}

}  // namespace grapevine
