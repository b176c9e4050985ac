#include "model/network/graph_network.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/tensor/tensor_thread.h"
#include "model/network/network_graph.h"
#include "random/keyed_random.h"

namespace grapevine {

GraphNetwork::GraphNetwork(NetworkGraph graph, std::unique_ptr<TensorDevice> device,
                           const NetworkOptions& options)
    : graph_(Fuse(std::move(graph))),
      progress_(graph_),
      device_(std::move(device)),
      options_(options),
      recorded_(device_.get()) {}

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

absl::Status GraphNetwork::PrepareGradient(int64_t batch_size) {
  if (training_ != nullptr && training_->batch_size() == batch_size) return absl::OkStatus();
  const TensorThread thread;
  recorded_ = RecordedSteps(device_.get());
  return Prepare(&training_, batch_size, Pass::kGradient);
}

absl::StatusOr<double> GraphNetwork::Gradient(const float* replica, const Batch& batch,
                                              float* gradient) {
  return GradientInParts(replica, batch, gradient, {});
}

absl::StatusOr<double> GraphNetwork::GradientInParts(
    const float* replica, const Batch& batch, float* gradient,
    const std::function<void(int64_t from)>& final_from) {
  RETURN_IF_ERROR(CheckBatch(batch));
  const TensorThread thread;
  RETURN_IF_ERROR(PrepareGradient(batch.size));
  BeginBatch(*training_, batch);
  // Somebody waits for parts while the rest is queued: a recording has none.
  const bool in_parts = final_from && device_->final_in_parts();
  if (in_parts || !options_.record_steps) {
    QueueGradient(replica, gradient, in_parts ? final_from : nullptr);
  } else {
    recorded_.Queue(replica, gradient, [&] { QueueGradient(replica, gradient, nullptr); });
  }
  ASSIGN_OR_RETURN(BatchResult result, device_->Finish());
  return result.loss_sum / static_cast<double>(batch.size);
}

void GraphNetwork::QueueGradient(const float* replica, float* gradient,
                                 const std::function<void(int64_t from)>& final_from) {
  training_->Forward(replica, gradient);
  device_->ComputeLoss({.loss = {.classes = classes(), .label_smoothing = options_.label_smoothing},
                        .logits = training_->logits(),
                        .gradient = training_->logits_gradient()});
  training_->Backward(replica, gradient, [&](int operation) {
    if (final_from) final_from(progress_.FinalFrom(operation));
  });
  device_->EndGradient({.replica = replica,
                        .gradient = gradient,
                        .parameter_size = layout().parameter_size,
                        .size = layout().size});
}

absl::Status GraphNetwork::Statistics(const float* replica, const Batch& batch, float* statistics) {
  RETURN_IF_ERROR(CheckBatch(batch));
  const TensorThread thread;
  if (statistics_ == nullptr || statistics_->batch_size() != batch.size) {
    RETURN_IF_ERROR(Prepare(&statistics_, batch.size, Pass::kStatistics));
  }
  BeginBatch(*statistics_, batch);
  statistics_->Forward(replica, statistics);
  return device_->Finish().status();
}

absl::StatusOr<EvaluationSums> GraphNetwork::Evaluate(const float* replica, const Batch& batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  const TensorThread thread;
  if (evaluation_ == nullptr || evaluation_->batch_size() < batch.size) {
    RETURN_IF_ERROR(Prepare(&evaluation_, batch.size, Pass::kInference));
  }
  // In inference no image touches another one: a smaller batch leaves what was
  // there behind its own.
  BeginBatch(*evaluation_, batch);
  evaluation_->Forward(replica, nullptr);
  device_->ComputeLoss({.loss = {.classes = classes()}, .logits = evaluation_->logits()});
  ASSIGN_OR_RETURN(BatchResult result, device_->Finish());
  return EvaluationSums{
      .loss_sum = result.loss_sum, .correct = result.correct, .samples = batch.size};
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
  ASSIGN_OR_RETURN(*plan, ExecutionPlan::Make(graph_, *device_, batch_size, pass));
  LOG(INFO) << name() << ": " << (*plan)->arena_bytes() << " bytes of activations for "
            << NameOf(pass) << " of " << batch_size << " samples";
  return absl::OkStatus();
}

void GraphNetwork::BeginBatch(const ExecutionPlan& plan, const Batch& batch) {
  device_->BeginBatch(
      {.images = batch.images, .labels = batch.labels, .on_device = batch.on_device.get()},
      plan.images_format(), plan.images());
}

}  // namespace grapevine
