// A network prepared to run for one batch size: its layers, and one arena for every activation,
// gradient and scratch region, planned before the first step; and its steps as recorded by a
// device, so that later ones are queued by one call each.
//
// Calls are queued on the device. Thread-compatible; calls run inside a TensorThread.
#ifndef GRAPEVINE_MODEL_NETWORK_EXECUTION_PLAN_H_
#define GRAPEVINE_MODEL_NETWORK_EXECUTION_PLAN_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_device.h"
#include "kernels/tensor/tensor_format.h"
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

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_EXECUTION_PLAN_H_
