#include "cli/accuracy_target.h"

namespace grapevine {

AccuracyTarget::AccuracyTarget(const Experiment* experiment)
    : experiment_(experiment),
      limit_(experiment->config().has_target_accuracy()
                 ? experiment->NextEvaluation(experiment->NextEvaluation(0))
                 : experiment->rounds()) {}

bool AccuracyTarget::Met(const std::optional<double>& test_accuracy) const {
  const Config& config = experiment_->config();
  return config.has_target_accuracy() && test_accuracy &&
         *test_accuracy >= config.target_accuracy();
}

bool AccuracyTarget::OnEvaluation(const ModelEvaluation& evaluation) {
  if (!experiment_->config().has_target_accuracy() || reached_) return false;
  reached_ = Met(evaluation.test_accuracy);
  if (!reached_) {
    limit_ = experiment_->NextEvaluation(experiment_->NextEvaluation(evaluation.round));
  }
  return true;
}

}  // namespace grapevine
