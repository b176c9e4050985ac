#include "experiment/core/run_horizon.h"

#include <limits>

#include "experiment/core/run_plan.h"

namespace grapevine {

RunHorizon::RunHorizon(std::optional<double> accuracy, RunCourse* course, bool settles_last)
    : accuracy_(accuracy), course_(course), settles_last_(settles_last) {
  const RunPlan plan = course_->plan();
  rounds_ = plan.rounds;
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
  if (reached_ || evaluation.round <= evaluated_) return false;  // of fewer nodes, once more
  evaluated_ = evaluation.round;
  if (!accuracy_ && !plateau_) return settles_last_ && final();
  reached_ = Met(evaluation.test_accuracy);
  if (reached_ || limit_ >= rounds_) return reached_ || (settles_last_ && final());
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (plateau_ && plateau_->OnLoss(evaluation.test_loss.value_or(none))) growth_ *= factor_;
  Advance();
  return true;
}

void RunHorizon::Advance() {
  RunPlan plan = course_->plan();
  if (plateau_) plan = plan.Grown(limit_, growth_);
  rounds_ = plan.rounds;
  limit_ = plan.NextEvaluation(limit_);
  course_->Settle(limit_, growth_);
}

}  // namespace grapevine
