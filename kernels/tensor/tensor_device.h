// What runs the operations of a network: the CPU or a GPU.
//
// A device makes layers, has the memory that they work in, takes batches in from host
// memory and computes the loss. All its calls, and those of its layers, are queued in
// order; a CPU runs each at once, a GPU after the call has returned, up to Finish, which
// waits. What fails in between is the result of Finish.
//
//   BeginBatch -> layers' Forward -> ComputeLoss -> layers' Backward -> EndGradient
//              -> Finish
//
// Replicas and gradients are the device's memory, batches the host's. Thread-compatible:
// a device and its layers belong to one thread at a time. It outlives its layers.
#ifndef GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// In host memory, which stays as it is until Finish. Images are fp32, nhwc.
struct HostBatch {
  std::span<const float> images;
  std::span<const int32_t> labels;
  // Of the images, on the device that is asked; null: none. It lives until Finish.
  const DeviceCopy* on_device = nullptr;
};

struct LossCall {
  CrossEntropy loss;
  const void* logits = nullptr;  // a row per label of the batch, as the last layer writes them
  void* gradient = nullptr;      // of the mean loss, in the format of the logits; null: none
};

struct BatchResult {
  double loss_sum = 0;
  int64_t correct = 0;  // rows whose largest logit is the label's
};

// What a step queued once, to be queued again by one call.
class StepRecording {
 public:
  virtual ~StepRecording() = default;
  // Between BeginBatch and Finish, in place of the calls that were recorded.
  virtual void Queue() = 0;
};

class TensorDevice {
 public:
  virtual ~TensorDevice() = default;

  // Errors name the operation and what the library said.
  virtual absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) = 0;

  // Makes ready for batches of such images, and says how they lie for the first layer.
  virtual absl::StatusOr<TensorFormat> PrepareInput(const TensorShape& images) = 0;

  // Of each tensor in an arena, in bytes.
  virtual int64_t alignment() const = 0;
  // Memory of zeros: padding that no layer writes must not hold NaNs of an earlier life.
  // It goes back when the last holder lets go, not before Finish. ResourceExhausted names
  // `what` it was for.
  virtual absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t bytes, std::string_view what) = 0;

  // Copies the images to `images`, which may hold more of them, and the labels to where
  // ComputeLoss reads them.
  virtual void BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) = 0;
  // Of the batch begun last. Counts what is correct where there is no gradient.
  virtual void ComputeLoss(const LossCall& call) = 0;
  // After the last Backward: the gradient's elements are final, unless they were before.
  struct GradientVector {
    const float* replica = nullptr;
    float* gradient = nullptr;
    int64_t parameter_size = 0;
    int64_t size = 0;
  };
  virtual void EndGradient(const GradientVector& vector) {}
  // Whether what a layer's Backward writes into the gradient is final (on a GPU: in the
  // order of its stream), or waits for EndGradient.
  virtual bool final_in_parts() const { return true; }

  // Records what `calls` would queue, and queues nothing: calls of this device and of its
  // layers between BeginBatch and Finish. What they name stays where it is as long as the
  // recording is used, and the device outlives it. Unimplemented where it gains nothing,
  // Unavailable where the step has failed already.
  virtual absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) {
    return absl::UnimplementedError("calls are run at once");
  }
  // What decides, beside their arguments, what such calls queue: a recording serves as
  // long as this is what it was.
  virtual uint64_t step_state() const { return 0; }

  // What the libraries' products of all layers made so far take, each alone, as measured
  // when they were chosen: the floor of a step. 0 where nothing is measured.
  virtual double product_seconds() const { return 0; }

  // Waits for all that was queued. Zeros where no loss was asked for. DeadlineExceeded
  // when it takes too long; what is then still queued uses its memory.
  virtual absl::StatusOr<BatchResult> Finish() = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_
