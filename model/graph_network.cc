#include "model/graph_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_thread.h"
#include "model/fusion.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

const char* NameOf(Pass pass) {
  switch (pass) {
    case Pass::kGradient:
      return "gradients";
    case Pass::kStatistics:
      return "statistics";
    case Pass::kInference:
      return "evaluations";
  }
  return "";
}

}  // namespace

GraphNetwork::GraphNetwork(NetworkGraph graph, std::unique_ptr<const LayerFactory> layers,
                           const NetworkOptions& options)
    : graph_(Fuse(std::move(graph))),
      progress_(graph_),
      layers_(std::move(layers)),
      options_(options) {}

void GraphNetwork::Initialize(uint64_t seed, float* replica) const {
  for (size_t i = 0; i < graph_.initial_values.size(); ++i) {
    const InitialValues& values = graph_.initial_values[i];
    KeyedRandom random(seed, Purpose::kInitialization, i);
    for (int64_t k = 0; k < values.size; ++k) {
      const double noise = values.deviation == 0 ? 0 : values.deviation * random.Normal();
      replica[values.offset + k] = static_cast<float>(values.mean + noise);
    }
  }
}

absl::StatusOr<double> GraphNetwork::Gradient(const float* replica, const Batch& batch,
                                              float* gradient) {
  return GradientInParts(replica, batch, gradient, {});
}

absl::StatusOr<double> GraphNetwork::GradientInParts(
    const float* replica, const Batch& batch, float* gradient,
    const std::function<void(int64_t from)>& final_from) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  const TensorThread thread;
  if (training_ == nullptr || training_->batch_size() != batch.size) {
    absl::Status status = Prepare(&training_, batch.size, Pass::kGradient);
    if (!status.ok()) return status;
  }
  std::copy(batch.images.begin(), batch.images.end(), training_->images().begin());
  training_->Forward(replica, gradient);
  const double loss =
      SoftmaxCrossEntropy({.classes = classes(), .label_smoothing = options_.label_smoothing},
                          training_->logits(), batch.labels, training_->logits_gradient());
  training_->Backward(replica, gradient, [&](int operation) {
    if (final_from) final_from(progress_.FinalFrom(operation));
  });
  return loss / static_cast<double>(batch.size);
}

absl::Status GraphNetwork::Statistics(const float* replica, const Batch& batch, float* statistics) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  const TensorThread thread;
  if (statistics_ == nullptr || statistics_->batch_size() != batch.size) {
    absl::Status status = Prepare(&statistics_, batch.size, Pass::kStatistics);
    if (!status.ok()) return status;
  }
  std::copy(batch.images.begin(), batch.images.end(), statistics_->images().begin());
  statistics_->Forward(replica, statistics);
  return absl::OkStatus();
}

absl::StatusOr<Evaluation> GraphNetwork::Evaluate(const float* replica, const Batch& batch) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  const TensorThread thread;
  if (evaluation_ == nullptr || evaluation_->batch_size() < batch.size) {
    absl::Status status = Prepare(&evaluation_, batch.size, Pass::kInference);
    if (!status.ok()) return status;
  }
  // In inference no image touches another one: a smaller batch leaves what was
  // there behind its own.
  std::copy(batch.images.begin(), batch.images.end(), evaluation_->images().begin());
  evaluation_->Forward(replica, nullptr);
  const float* logits = evaluation_->logits();
  return Evaluation{
      .loss_sum = SoftmaxCrossEntropy({.classes = classes()}, logits, batch.labels, nullptr),
      .correct = CountCorrect(classes(), logits, batch.labels),
      .samples = batch.size};
}

absl::Status GraphNetwork::CheckBatch(const Batch& batch) const {
  const auto wanted = static_cast<size_t>(batch.size * graph_.input.size());
  if (batch.size < 1 || batch.images.size() != wanted ||
      batch.labels.size() != static_cast<size_t>(batch.size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name(), ": a batch of ", batch.size, " images needs ", wanted, " numbers and as many ",
        "labels, not ", batch.images.size(), " and ", batch.labels.size()));
  }
  for (int32_t label : batch.labels) {
    if (label >= 0 && label < classes()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": label ", label, " is outside of the ", classes(), " classes"));
  }
  return absl::OkStatus();
}

absl::Status GraphNetwork::Prepare(std::unique_ptr<ExecutionPlan>* plan, int64_t batch_size,
                                   Pass pass) {
  plan->reset();  // before the new one: only one arena at a time
  absl::StatusOr<std::unique_ptr<ExecutionPlan>> made =
      ExecutionPlan::Make(graph_, *layers_, batch_size, pass);
  if (!made.ok()) return made.status();
  *plan = *std::move(made);
  LOG(INFO) << name() << ": " << (*plan)->arena_bytes() << " bytes of activations for "
            << NameOf(pass) << " of " << batch_size << " samples";
  return absl::OkStatus();
}

}  // namespace grapevine
