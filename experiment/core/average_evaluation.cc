#include "experiment/core/average_evaluation.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/files/safetensors.h"

namespace grapevine {
namespace {

std::string ModelPath(const std::string& folder) { return folder + "/model.safetensors"; }

}  // namespace

absl::StatusOr<ModelEvaluation> EvaluateAverage(const AveragedModel& average,
                                                Evaluator& evaluator) {
  ASSIGN_OR_RETURN(const Evaluation plain, evaluator.Evaluate(average.model));
  ModelEvaluation evaluation{.round = average.round,
                             .consensus_distance = average.consensus_distance,
                             .buffer_distance = average.buffer_distance,
                             .test_loss = plain.loss,
                             .test_accuracy = plain.accuracy};
  ASSIGN_OR_RETURN(const std::optional<Evaluation> recalibrated,
                   evaluator.EvaluateRecalibrated(average.model));
  if (recalibrated) {
    evaluation.test_loss_recalibrated = recalibrated->loss;
    evaluation.test_accuracy_recalibrated = recalibrated->accuracy;
  }
  return evaluation;
}

absl::Status WriteAveragedModel(const Experiment& experiment, const AveragedModel& average,
                                const std::string& run) {
  return WriteSafetensors(
      ModelPath(run), experiment.layout(), average.model.data.get(),
      {{"model", experiment.config().model()}, {"rounds", absl::StrCat(average.round)}});
}

absl::Status WriteNodeModel(const Experiment& experiment, Rank rank, const SharedVector& model,
                            const std::string& folder) {
  return WriteSafetensors(ModelPath(folder), experiment.layout(), model.data.get(),
                          {{"rank", absl::StrCat(rank)}, {"model", experiment.config().model()}});
}

}  // namespace grapevine
