#include "experiment/core/accuracy_target.h"

#include <utility>

namespace grapevine {

AccuracyTarget::AccuracyTarget(std::optional<double> accuracy, int64_t rounds,
                               std::function<bool(int64_t completed)> evaluated)
    : accuracy_(accuracy),
      rounds_(rounds),
      evaluated_(std::move(evaluated)),
      limit_(accuracy_ ? NextEvaluation(NextEvaluation(0)) : rounds_) {}

int64_t AccuracyTarget::NextEvaluation(int64_t completed) const {
  int64_t next = completed + 1;
  while (next < rounds_ && !evaluated_(next)) ++next;
  return next < rounds_ ? next : rounds_;
}

bool AccuracyTarget::Met(const std::optional<double>& test_accuracy) const {
  return accuracy_ && test_accuracy && *test_accuracy >= *accuracy_;
}

bool AccuracyTarget::OnEvaluation(const EvaluationRecord& evaluation) {
  if (!accuracy_ || reached_) return false;
  reached_ = Met(evaluation.test_accuracy);
  if (!reached_) limit_ = NextEvaluation(NextEvaluation(evaluation.round));
  return true;
}

}  // namespace grapevine
