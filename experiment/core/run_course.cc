#include "experiment/core/run_course.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "experiment/core/run_plan.h"

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

void RunCourse::Close(Round rounds) {
  MutexLock lock(mutex_);
  if (plan_.open_ended) plan_ = plan_.Closed(rounds);
}

void RunCourse::GoOn(const View& view) {
  MutexLock lock(mutex_);
  if (view.epoch <= (views_.empty() ? 0 : views_.back().epoch)) return;
  if (view.checkpoint > 0 && !views_.empty() && view.members == views_.back().members) return;
  views_.push_back(view);
  plan_ = plan_.Among(view.from, view.size());
}

void RunCourse::Among(Round from, Rank workers) {
  MutexLock lock(mutex_);
  plan_ = plan_.Among(from, workers);
}

std::optional<View> RunCourse::ViewAfter(uint32_t epoch) const {
  MutexLock lock(mutex_);
  for (const View& view : views_) {
    if (view.epoch > epoch) return view;
  }
  return std::nullopt;
}

std::vector<View> RunCourse::views() const {
  MutexLock lock(mutex_);
  return views_;
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

RunHorizon::RunHorizon(std::optional<double> accuracy, RunCourse* course, bool settles_last)
    : accuracy_(accuracy), course_(course), settles_last_(settles_last) {
  const RunPlan plan = course_->plan();
  rounds_ = plan.rounds;
  open_ended_ = plan.open_ended;
  if (const std::optional<PlateauRule>& rule = plan.batches.plateau()) {
    plateau_.emplace(*rule);
    factor_ = rule->factor;
  }
  const bool depends = accuracy_ || plateau_;
  limit_ = depends ? plan.NextEvaluation(plan.NextEvaluation(0)) : rounds_;
  course_->Settle(limit_, growth_);
}

bool RunHorizon::Met(const std::optional<double>& test_accuracy) const {
  return accuracy_ && test_accuracy && *test_accuracy >= *accuracy_;
}

bool RunHorizon::OnEvaluation(const EvaluationRecord& evaluation) {
  const bool over = reached_ && final();
  if (over || evaluation.round <= evaluated_) return false;  // evaluated again, with fewer nodes
  evaluated_ = evaluation.round;
  if (!accuracy_ && !plateau_) return settles_last_ && final();
  reached_ = reached_ || Met(evaluation.test_accuracy);
  if (reached_ || limit_ >= rounds_) return (reached_ || settles_last_) && final();
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (plateau_ && plateau_->OnLoss(evaluation.test_loss.value_or(none))) growth_ *= factor_;
  Advance();
  return true;
}

void RunHorizon::Close(Round rounds) {
  if (!std::exchange(open_ended_, false)) return;
  limit_ = rounds_ = rounds;
}

void RunHorizon::CatchUp(Round limit) {
  while (limit_ < std::min(limit, rounds_)) Advance();
}

void RunHorizon::Advance() {
  RunPlan plan = course_->plan();
  if (plateau_) plan = plan.Grown(limit_, growth_);
  rounds_ = plan.rounds;
  limit_ = plan.NextEvaluation(limit_);
  course_->Settle(limit_, growth_);
}

}  // namespace grapevine
