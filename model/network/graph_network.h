// Runs a NetworkGraph on one device: the CPU or a GPU.
//
// A GraphNetwork keeps one plan for gradients, one for statistics and one for evaluations. The
// plans for gradients and statistics are for the batch size last seen, the plan for evaluations is
// for the largest one, in which smaller batches fit. Replicas and gradients are in device memory,
// except in Initialize, which writes host memory; batches are in host memory. Every call waits for
// its result. Elements that GradientInParts reports as final are final in the order of the device's
// stream: on a GPU, for work that is queued after the report or waits for an event recorded then.
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

// The calls that a plan is made for.
enum class Pass {
  kGradient,    // Forward and Backward
  kStatistics,  // Forward as in training, for the batch's statistics; no Backward
  kInference,   // Forward with running statistics
};

// Returns the plural of what a pass computes: "gradients".
const char* NameOf(Pass pass);

// A network prepared to run for one batch size: its layers, and one arena for all activations,
// gradients and scratch regions, planned before the first step.
//
// Calls are queued on the device and must run inside a TensorThread. Thread-compatible.
class ExecutionPlan {
 public:
  // Makes a plan. The device must outlive it. If memory is lacking, the error says for what.
  static absl::StatusOr<std::unique_ptr<ExecutionPlan>> Make(const NetworkGraph& graph,
                                                             TensorDevice& device,
                                                             int64_t batch_size, Pass pass);

  int64_t batch_size() const { return batch_size_; }
  // The bytes of activations, gradients and scratch memory.
  int64_t arena_bytes() const { return arena_bytes_; }

  // The memory in which Forward expects the images.
  void* images() const { return images_; }
  const TensorFormat& images_format() const { return images_format_; }
  // The logits (batch_size, classes), valid from Forward to Backward.
  const void* logits() const { return logits_; }
  // The memory in which Backward expects the gradient of the loss, in the format of the logits.
  void* logits_gradient() const { return logits_gradient_; }

  // Runs the forward pass, which writes the batch's statistics into `gradient`. `gradient` is null
  // in inference.
  void Forward(const float* replica, float* gradient);
  // Runs the backward pass. Calls `done(i)` when the backward of operation i has run, from the last
  // operation to the first.
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

// Records steps, so that a device can queue each later step with one call.
//
// Every step makes the same calls over the same memory, except that the replica alternates
// among a few vectors. Each of them gets a recording of its own. On a GPU, where a step is hundreds
// of launches, a small network otherwise waits for the CPU. A RecordedSteps belongs to one
// execution plan, which it must not outlive.
class RecordedSteps {
 public:
  // The number of times that a step is queued call by call before it is recorded. The work that
  // libraries do at their first call (loading, choosing) is not part of a step, and not every step
  // recurs.
  static constexpr int kPlainSteps = 2;
  // The largest number of steps that are remembered, the latest ones. The steps of D-PSGD use
  // window + 2 vectors in turn.
  static constexpr size_t kMaxSteps = 64;

  // `device` must outlive this object.
  explicit RecordedSteps(TensorDevice* device) : device_(device) {}

  // Queues `calls`, one by one or as recorded. `calls` must depend only on these two vectors and
  // the plan.
  void Queue(const float* replica, const float* gradient, const std::function<void()>& calls);

 private:
  struct Step {
    const float* replica;
    const float* gradient;
    uint64_t device_state;
    int times_queued = 0;
    std::unique_ptr<StepRecording> recording = nullptr;  // null until the step is recorded
  };

  // Finds or creates the step of these vectors, moves it to the front of the list and returns it.
  Step& MoveToFront(const float* replica, const float* gradient);
  void Record(const std::function<void()>& calls, Step* step);

  TensorDevice* device_;
  bool records_ = true;    // false once recording has failed for good
  std::list<Step> steps_;  // the last queued step comes first
};

struct NetworkOptions {
  float label_smoothing = 0;  // in training only; Evaluate reports the plain loss
  bool record_steps = true;   // record recurring steps if the device can; see RecordedSteps
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
  // The following functions refuse batches that do not fit the network, and return the errors of
  // the device's libraries.
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
  // Queues forward, loss and backward of the last batch that BeginBatch began.
  void QueueGradient(const float* replica, float* gradient,
                     const std::function<void(int64_t from)>& final_from);

  const NetworkGraph graph_;  // fused
  const BackwardProgress progress_;
  const std::unique_ptr<TensorDevice> device_;  // outlives the layers, which the plans own
  const NetworkOptions options_;
  std::unique_ptr<ExecutionPlan> training_;
  RecordedSteps recorded_;  // of training_, except gradients that are final in parts
  std::unique_ptr<ExecutionPlan> statistics_;
  std::unique_ptr<ExecutionPlan> evaluation_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_
