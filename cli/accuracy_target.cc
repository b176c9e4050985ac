#include "cli/accuracy_target.h"

namespace grapevine {

AccuracyTarget::AccuracyTarget(const Experiment* experiment)
    : experiment_(experiment),
      limit_(experiment->config().has_target_accuracy()
                 ? experiment->NextEvaluation(experiment->NextEvaluation(0))
                 : experiment->rounds()) {}

bool AccuracyTarget::OnEvaluation(const ModelEvaluation& evaluation) {
  const Config& config = experiment_->config();
  if (!config.has_target_accuracy() || reached_) return false;
  reached_ = *evaluation.test_accuracy >= config.target_accuracy();
  if (!reached_) {
    limit_ = experiment_->NextEvaluation(experiment_->NextEvaluation(evaluation.round));
  }
  return true;
}

}  // namespace grapevine
