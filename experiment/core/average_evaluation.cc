#include "experiment/core/average_evaluation.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "model/files/safetensors.h"

namespace grapevine {
namespace {

std::string ModelPath(const std::string& folder) { return folder + "/model.safetensors"; }

}  // namespace

absl::StatusOr<ModelEvaluation> EvaluateAverage(const AveragedModel& average,
                                                Evaluator& evaluator) {
  const absl::StatusOr<Evaluation> plain = evaluator.Evaluate(average.model);
  if (!plain.ok()) return plain.status();
  ModelEvaluation evaluation{.round = average.round,
                             .consensus_distance = average.consensus_distance,
                             .buffer_distance = average.buffer_distance,
                             .test_loss = plain->loss,
                             .test_accuracy = plain->accuracy};
  const absl::StatusOr<std::optional<Evaluation>> recalibrated =
      evaluator.EvaluateRecalibrated(average.model);
  if (!recalibrated.ok()) return recalibrated.status();
  if (*recalibrated) {
    evaluation.test_loss_recalibrated = (*recalibrated)->loss;
    evaluation.test_accuracy_recalibrated = (*recalibrated)->accuracy;
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
