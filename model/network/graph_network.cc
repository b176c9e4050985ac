#include "model/network/graph_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/memory_plan.h"
#include "kernels/tensor/tensor_thread.h"
#include "model/network/network_graph.h"
#include "random/keyed_random.h"

namespace grapevine {

namespace {

bool HasParameters(const Operation& operation) {
  return std::visit(
      [](const auto& o) {
        return requires { o.weight; };
      },
      operation);
}

// Returns for each tensor whether a gradient must reach it, which is the case if it depends on a
// parameter.
std::vector<bool> WantsGradient(const NetworkGraph& graph) {
  std::vector<bool> wants = {false};
  for (const GraphNode& node : graph.nodes) {
    bool wanted = HasParameters(node.operation);
    for (int input : node.inputs) wanted = wanted || wants[input];
    wants.push_back(wanted);
  }
  return wants;
}

constexpr int kNoRegion = -1;

}  // namespace

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

// Makes the layers, then gives each tensor its region. Time counts the calls
// of a step: with L layers, Forward of layer i is at i, the loss at L, and Backward
// of layer i at 2 L - i.
class ExecutionPlanner {
 public:
  ExecutionPlanner(const NetworkGraph& graph, TensorDevice& device, int64_t batch_size, Pass pass)
      : graph_(graph),
        device_(device),
        pass_(pass),
        backward_(pass == Pass::kGradient),
        mode_(pass == Pass::kInference ? Mode::kInference : Mode::kTraining),
        loss_time_(static_cast<int>(graph.nodes.size())),
        wants_gradient_(WantsGradient(graph)),
        plan_(new ExecutionPlan()),
        arena_(device.alignment()) {
    plan_->batch_size_ = batch_size;
  }

  absl::StatusOr<std::unique_ptr<ExecutionPlan>> Make() {
    const ImageShape& image = graph_.input;
    ASSIGN_OR_RETURN(TensorFormat images, device_.PrepareInput({plan_->batch_size_, image.channels,
                                                                image.height, image.width}));
    formats_.push_back(images);
    for (const GraphNode& node : graph_.nodes) {
      ASSIGN_OR_RETURN(std::unique_ptr<Layer> layer, device_.MakeLayer(Request(node)));
      formats_.push_back(layer->output());
      plan_->layers_.push_back(std::move(layer));
    }
    PlanActivations();
    PlanWorkspaces();
    if (backward_) PlanGradients();
    RETURN_IF_ERROR(Allocate());
    return std::move(plan_);
  }

 private:
  const Layer& layer(int i) const { return *plan_->layers_[i]; }
  int backward_time(int i) const { return 2 * loss_time_ - i; }
  int layers() const { return loss_time_; }

  LayerRequest Request(const GraphNode& node) const {
    LayerRequest request{.operation = node.operation, .mode = mode_, .backward = backward_};
    for (int input : node.inputs) {
      request.inputs.push_back(formats_[input]);
      request.wants_gradient.push_back(wants_gradient_[input]);
    }
    return request;
  }

  void PlanActivations() {
    for (int tensor = 0; tensor <= layers(); ++tensor) {
      const int region = arena_.Add(formats_[tensor].bytes());
      activations_.push_back(region);
      arena_.Touch(region, std::max(0, tensor - 1));
      if (tensor == layers()) arena_.Touch(region, loss_time_);
      if (backward_ && tensor > 0 && layer(tensor - 1).backward_reads_output()) {
        arena_.Touch(region, backward_time(tensor - 1));
      }
      for (int consumer : graph_.Consumers(tensor)) {
        arena_.Touch(region, consumer);
        if (backward_ && layer(consumer).backward_reads_inputs()) {
          arena_.Touch(region, backward_time(consumer));
        }
      }
    }
  }

  void PlanWorkspaces() {
    int64_t scratch_bytes = 0;
    for (int i = 0; i < layers(); ++i) {
      kept_.push_back(arena_.Add(layer(i).kept_bytes()));
      arena_.Touch(kept_[i], i);
      if (backward_) arena_.Touch(kept_[i], backward_time(i));
      scratch_bytes = std::max(scratch_bytes, layer(i).scratch_bytes());
    }
    scratch_ = arena_.Add(scratch_bytes);
    arena_.Touch(scratch_, 0);
    arena_.Touch(scratch_, backward_time(0));
  }

  // Plans one region per use of a tensor, so that consumers never wait for each
  // other. The producer sums the regions.
  void PlanGradients() {
    gradients_of_.resize(formats_.size());
    input_gradients_.resize(graph_.nodes.size());
    gradients_of_.back() = {arena_.Add(formats_.back().bytes())};
    arena_.Touch(gradients_of_.back()[0], loss_time_);
    for (int i = layers() - 1; i >= 0; --i) {
      for (int region : gradients_of_[i + 1]) arena_.Touch(region, backward_time(i));
      const std::vector<int>& inputs = graph_.nodes[i].inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        const int region = InputGradient(i, static_cast<int>(k));
        input_gradients_[i].push_back(region);
        if (region == kNoRegion) continue;
        arena_.Touch(region, backward_time(i));
        gradients_of_[inputs[k]].push_back(region);
      }
    }
  }

  int InputGradient(int i, int k) {
    const int tensor = graph_.nodes[i].inputs[k];
    if (!wants_gradient_[tensor]) return kNoRegion;
    if (layer(i).shares_gradient(k)) return gradients_of_[i + 1][0];
    return arena_.Add(formats_[tensor].bytes());
  }

  absl::Status Allocate() {
    arena_.Solve();
    ASSIGN_OR_RETURN(plan_->arena_, device_.NewArena(arena_.bytes(),
                                                     absl::StrCat("activations for ", NameOf(pass_),
                                                                  " of ", plan_->batch_size_,
                                                                  " samples of ", graph_.name)));
    plan_->arena_bytes_ = arena_.bytes();
    for (int i = 0; i < layers(); ++i) plan_->layers_[i]->Bind(Tensors(i));
    plan_->images_format_ = formats_[0];
    plan_->images_ = At(activations_[0]);
    plan_->logits_ = At(activations_.back());
    if (backward_) plan_->logits_gradient_ = At(gradients_of_.back()[0]);
    return absl::OkStatus();
  }

  void* At(int region) const {
    if (region == kNoRegion) return nullptr;
    return static_cast<char*>(plan_->arena_.get()) + arena_.offset(region);
  }

  LayerTensors Tensors(int i) const {
    LayerTensors tensors;
    for (int input : graph_.nodes[i].inputs) tensors.inputs.push_back(At(activations_[input]));
    tensors.output = At(activations_[i + 1]);
    tensors.kept = At(kept_[i]);
    tensors.scratch = At(scratch_);
    if (!backward_) return tensors;
    for (int region : gradients_of_[i + 1]) tensors.output_gradients.push_back(At(region));
    for (int region : input_gradients_[i]) tensors.input_gradients.push_back(At(region));
    return tensors;
  }

  const NetworkGraph& graph_;
  TensorDevice& device_;
  const Pass pass_;
  const bool backward_;
  const Mode mode_;
  const int loss_time_;
  const std::vector<bool> wants_gradient_;
  std::unique_ptr<ExecutionPlan> plan_;
  std::vector<TensorFormat> formats_;  // one per tensor
  ArenaPlan arena_;
  std::vector<int> activations_;  // regions, one per tensor
  std::vector<int> kept_;         // regions, one per layer
  int scratch_ = kNoRegion;
  std::vector<std::vector<int>> gradients_of_;     // regions of each tensor, one per use
  std::vector<std::vector<int>> input_gradients_;  // regions of each layer, one per input
};

absl::StatusOr<std::unique_ptr<ExecutionPlan>> ExecutionPlan::Make(const NetworkGraph& graph,
                                                                   TensorDevice& device,
                                                                   int64_t batch_size, Pass pass) {
  return ExecutionPlanner(graph, device, batch_size, pass).Make();
}

void ExecutionPlan::Forward(const float* replica, float* gradient) {
  for (const std::unique_ptr<Layer>& layer : layers_) layer->Forward(replica, gradient);
}

void ExecutionPlan::Backward(const float* replica, float* gradient,
                             const std::function<void(int i)>& done) {
  for (size_t i = layers_.size(); i-- > 0;) {
    layers_[i]->Backward(replica, gradient);
    done(static_cast<int>(i));
  }
}

void RecordedSteps::Queue(const float* replica, const float* gradient,
                          const std::function<void()>& calls) {
  if (!records_) return calls();
  Step& step = MoveToFront(replica, gradient);
  if (step.times_queued++ < kPlainSteps) return calls();
  if (step.recording == nullptr) Record(calls, &step);
  step.recording == nullptr ? calls() : step.recording->Queue();
}

RecordedSteps::Step& RecordedSteps::MoveToFront(const float* replica, const float* gradient) {
  const uint64_t state = device_->step_state();
  const auto found = std::ranges::find_if(steps_, [&](const Step& step) {
    return step.replica == replica && step.gradient == gradient && step.device_state == state;
  });
  if (found != steps_.end()) {
    steps_.splice(steps_.begin(), steps_, found);
  } else {
    if (steps_.size() == kMaxSteps) steps_.pop_back();
    steps_.push_front({.replica = replica, .gradient = gradient, .device_state = state});
  }
  return steps_.front();
}

void RecordedSteps::Record(const std::function<void()>& calls, Step* step) {
  absl::StatusOr<std::unique_ptr<StepRecording>> recording = device_->Record(calls);
  if (recording.ok()) {
    step->recording = *std::move(recording);
    return;
  }
  if (absl::IsUnavailable(recording.status())) return;  // this step has failed; others may not
  records_ = false;
  if (absl::IsUnimplemented(recording.status())) return;
  LOG(WARNING) << "Steps are queued call by call: " << recording.status().message();
}

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
  // Another thread waits for parts while the rest is queued. A recording has no parts.
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
  // In inference images do not affect each other: the images of an earlier, larger batch stay
  // behind those of a smaller one and do no harm.
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
  plan->reset();  // frees the old arena first, so that only one exists at a time
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
