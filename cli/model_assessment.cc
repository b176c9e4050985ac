#include "cli/model_assessment.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/batch_norm_recalibration.h"
#include "model/dataset_evaluation.h"
#include "model/safetensors.h"
#include "model/shard_batches.h"

namespace grapevine {
namespace {

// Training batches from which batch-norm statistics are measured anew.
constexpr int64_t kRecalibrationBatches = 50;

std::string ModelPath(const std::string& folder) { return folder + "/model.safetensors"; }

// The test result with batch-norm statistics that are measured anew. Only the
// buffers differ: they are put back, and no second model is held.
absl::StatusOr<TestResult> AssessRecalibrated(const Experiment& experiment,
                                              const SharedVector& model, Network& network) {
  std::vector<int32_t> all(experiment.data()->train->size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  ShardBatches batches(
      experiment.data()->train, std::move(all),
      {.batch_size = experiment.config().batch(), .seed = experiment.config().seed()});
  const std::span<float> buffers = model.span().subspan(experiment.layout().parameter_size);
  const std::vector<float> averaged(buffers.begin(), buffers.end());
  absl::Status status =
      RecalibrateBatchNorm(network, batches, 0, kRecalibrationBatches, model.data.get());
  if (!status.ok()) return status;
  absl::StatusOr<TestResult> result = AssessModel(experiment, model, network);
  std::ranges::copy(averaged, buffers.begin());
  return result;
}

}  // namespace

absl::StatusOr<TestResult> AssessModel(const Experiment& experiment, const SharedVector& model,
                                       Network& network) {
  const absl::StatusOr<Evaluation> result =
      EvaluateOn(experiment.data()->test, model.data.get(), network);
  if (!result.ok()) return result.status();
  const double samples = static_cast<double>(result->samples);
  return TestResult{.loss = result->loss_sum / samples,
                    .accuracy = static_cast<double>(result->correct) / samples};
}

absl::StatusOr<ModelEvaluation> AssessAverage(const Experiment& experiment,
                                              const AveragedModel& average, Network& network) {
  const absl::StatusOr<TestResult> plain = AssessModel(experiment, average.model, network);
  if (!plain.ok()) return plain.status();
  ModelEvaluation evaluation{.round = average.round,
                             .consensus_distance = average.consensus_distance,
                             .test_loss = plain->loss,
                             .test_accuracy = plain->accuracy};
  if (experiment.layout().buffers.empty()) return evaluation;
  const absl::StatusOr<TestResult> recalibrated =
      AssessRecalibrated(experiment, average.model, network);
  if (!recalibrated.ok()) return recalibrated.status();
  evaluation.test_loss_recalibrated = recalibrated->loss;
  evaluation.test_accuracy_recalibrated = recalibrated->accuracy;
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
