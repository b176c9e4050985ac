// Runs a NetworkGraph on one device: the CPU or a GPU.
//
// Keeps one plan for gradients, one for statistics and one for evaluations, each for the batch
// size last seen (evaluation: the largest, smaller batches fit in). Replicas and gradients are
// in device memory, except in Initialize, which writes host memory; batches are in host memory.
// Every call waits for its result. What GradientInParts reports as final is so in the order of
// the device's stream: on a GPU, for work queued after the report or waiting for an event
// recorded then.
#ifndef GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_
#define GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_device.h"
#include "kernels/tensor/tensor_format.h"
#include "model/network/network.h"
#include "model/network/network_graph.h"

namespace grapevine {

// What a plan is made for.
enum class Pass {
  kGradient,    // Forward and Backward
  kStatistics,  // Forward as in training, for the batch's statistics; no Backward
  kInference,   // Forward with running statistics
};

// "gradients"
const char* NameOf(Pass pass);

// A network prepared to run for one batch size: its layers, and one arena for every activation,
// gradient and scratch region, planned before the first step; and its steps as recorded by a
// device, so that later ones are queued by one call each.
//
// Calls are queued on the device. Thread-compatible; calls run inside a TensorThread.
class ExecutionPlan {
 public:
  // The device outlives the plan. Without memory the error says what for.
  static absl::StatusOr<std::unique_ptr<ExecutionPlan>> Make(const NetworkGraph& graph,
                                                             TensorDevice& device,
                                                             int64_t batch_size, Pass pass);

  int64_t batch_size() const { return batch_size_; }
  // Bytes of activations, gradients and scratch.
  int64_t arena_bytes() const { return arena_bytes_; }

  // Where the images go before Forward.
  void* images() const { return images_; }
  const TensorFormat& images_format() const { return images_format_; }
  // (batch_size, classes), valid from Forward to Backward.
  const void* logits() const { return logits_; }
  // Where the loss's gradient goes before Backward, in the format of the logits.
  void* logits_gradient() const { return logits_gradient_; }

  // `gradient` takes the batch's statistics; null in inference.
  void Forward(const float* replica, float* gradient);
  // Calls `done(i)` when the backward of operation i has run, from the last to the first.
  void Backward(const float* replica, float* gradient, const std::function<void(int i)>& done);

 private:
  friend class ExecutionPlanner;
  ExecutionPlan() = default;

  int64_t batch_size_ = 0;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::shared_ptr<void> arena_;
  int64_t arena_bytes_ = 0;
  TensorFormat images_format_;
  void* images_ = nullptr;
  void* logits_ = nullptr;
  void* logits_gradient_ = nullptr;
};

// Every step makes the same calls over the same memory, except that the replica alternates
// among a few vectors: each gets a recording of its own. On a GPU, where a step is hundreds of
// launches, a small network otherwise waits for the CPU. Belongs to one execution plan, which
// it must not outlive.
class RecordedSteps {
 public:
  // How often a step is first queued call by call: what libraries load or choose at a first
  // call is not part of a step, and not every step recurs.
  static constexpr int kPlainSteps = 2;
  // The most steps that are remembered, the latest ones. D-PSGD's use window + 2 vectors in
  // turn.
  static constexpr size_t kMaxSteps = 64;

  // The device outlives this.
  explicit RecordedSteps(TensorDevice* device) : device_(device) {}

  // Queues `calls`, a function of these two vectors and the plan, one by one or as
  // recorded.
  void Queue(const float* replica, const float* gradient, const std::function<void()>& calls);

 private:
  struct Step {
    const float* replica;
    const float* gradient;
    uint64_t device_state;
    int times_queued = 0;
    std::unique_ptr<StepRecording> recording = nullptr;  // null: not yet
  };

  // The step of these, found or new, now the first of the list.
  Step& MoveToFront(const float* replica, const float* gradient);
  void Record(const std::function<void()>& calls, Step* step);

  TensorDevice* device_;
  bool records_ = true;    // until a recording failed
  std::list<Step> steps_;  // the one queued last first
};

struct NetworkOptions {
  float label_smoothing = 0;  // in training only; Evaluate reports the plain loss
  bool record_steps = true;   // where the device can, and steps come again: RecordedSteps
};

class GraphNetwork : public Network {
 public:
  GraphNetwork(NetworkGraph graph, std::unique_ptr<TensorDevice> device,
               const NetworkOptions& options);

  const std::string& name() const override { return graph_.name; }
  const ReplicaLayout& layout() const override { return graph_.layout; }
  ImageShape input() const override { return graph_.input; }
  int64_t classes() const override { return graph_.classes(); }

  void Initialize(uint64_t seed, float* replica) const override;
  // Errors of all that follow: a batch that does not fit the network; errors of the device's
  // libraries.
  absl::Status PrepareGradient(int64_t batch_size) override;
  absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                  float* gradient) override;
  absl::StatusOr<double> GradientInParts(
      const float* replica, const Batch& batch, float* gradient,
      const std::function<void(int64_t from)>& final_from) override;
  double ReadyAt(int64_t from) const override { return progress_.ReadyAt(from); }
  absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) override;
  absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) override;

 private:
  absl::Status CheckBatch(const Batch& batch) const;
  absl::Status Prepare(std::unique_ptr<ExecutionPlan>* plan, int64_t batch_size, Pass pass);
  void BeginBatch(const ExecutionPlan& plan, const Batch& batch);
  // Queues forward, loss and backward of the batch begun last.
  void QueueGradient(const float* replica, float* gradient,
                     const std::function<void(int64_t from)>& final_from);

  const NetworkGraph graph_;  // fused
  const BackwardProgress progress_;
  const std::unique_ptr<TensorDevice> device_;  // before its layers
  const NetworkOptions options_;
  std::unique_ptr<ExecutionPlan> training_;
  RecordedSteps recorded_;  // of training_, but for gradients that are final in parts
  std::unique_ptr<ExecutionPlan> statistics_;
  std::unique_ptr<ExecutionPlan> evaluation_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_
