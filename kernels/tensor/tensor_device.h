// Runs the operations of a network: on the CPU or a GPU.
//
// A device makes layers, owns their memory, takes batches from host memory and computes the
// loss. All its calls, and those of its layers, are queued in order; a CPU runs each at once, a
// GPU after the call has returned, until Finish waits. Finish returns what failed in between.
//
//   BeginBatch -> layers' Forward -> ComputeLoss -> layers' Backward -> EndGradient
//              -> Finish
//
// Replicas and gradients are in device memory, batches in host memory. Thread-compatible: a
// device and its layers belong to one thread at a time. It outlives its layers.
//
// MakeGpuTensorDevice has two implementations, of which a build has one: CUDA's, and one that makes
// none (no_gpu_tensor_device.cc). A CPU's is in cpu/cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// In host memory, which must not change until Finish. Images are fp32, nhwc.
struct HostBatch {
  std::span<const float> images;
  std::span<const int32_t> labels;
  // A copy of the images on this device; null: none. It lives until Finish.
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

// A recorded step, to be queued again by one call.
class StepRecording {
 public:
  virtual ~StepRecording() = default;
  // Between BeginBatch and Finish, instead of the recorded calls.
  virtual void Queue() = 0;
};

class TensorDevice {
 public:
  virtual ~TensorDevice() = default;

  // Errors name the operation and quote the library.
  virtual absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) = 0;

  // Prepares for batches of such images, and returns their format for the first layer.
  virtual absl::StatusOr<TensorFormat> PrepareInput(const TensorShape& images) = 0;

  // The alignment of each tensor in an arena, in bytes.
  virtual int64_t alignment() const = 0;
  // Zeroed memory: padding that no layer writes must not hold stale NaNs. Freed when the last
  // holder drops it, not before Finish. ResourceExhausted names `what` it was for.
  virtual absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t bytes, std::string_view what) = 0;

  // Copies the images to `images`, which may hold more of them, and the labels to where
  // ComputeLoss reads them.
  virtual void BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) = 0;
  // The loss of the current batch. Counts correct rows if no gradient is requested.
  virtual void ComputeLoss(const LossCall& call) = 0;
  // After the last Backward: the gradient's elements are now final, if they were not before.
  struct GradientVector {
    const float* replica = nullptr;
    float* gradient = nullptr;
    int64_t parameter_size = 0;
    int64_t size = 0;
  };
  virtual void EndGradient(const GradientVector& vector) {}
  // Whether what a layer's Backward writes into the gradient is final at once (on a GPU: in the
  // order of its stream), or only after EndGradient.
  virtual bool final_in_parts() const { return true; }

  // Records what `calls` would queue, without queueing it: calls of this device and of its
  // layers between BeginBatch and Finish. Their arguments must stay in place as long as the
  // recording is used, and the device outlives it. Unimplemented if it would gain nothing,
  // Unavailable if the step has failed already.
  virtual absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) {
    return absl::UnimplementedError("calls are run at once");
  }
  // State that, besides their arguments, decides what such calls queue: a recording is valid as
  // long as this does not change.
  virtual uint64_t step_state() const { return 0; }

  // The time of the libraries' products in all layers made so far, each alone, as measured when
  // they were chosen: a lower bound of a step. 0 if nothing is measured.
  virtual double product_seconds() const { return 0; }

  // Waits for all that was queued. Zeros if no loss was requested. DeadlineExceeded when it
  // takes too long; work that is still queued then still uses its memory.
  virtual absl::StatusOr<BatchResult> Finish() = 0;
};

// The precision of a network on a GPU. Replicas, gradients and sums are always fp32.
enum class Precision {
  kFp32,
  kTf32,  // fp32 products on tensor cores, which keep 10 bits of each factor
  kBf16,  // activations, and the weights that products read
  kFp16,  // likewise, with a scaled loss
};

// "fp32", "tf32", "bf16", "fp16"; nullopt for any other name.
inline std::optional<Precision> PrecisionNamed(std::string_view name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "tf32") return Precision::kTf32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "fp16") return Precision::kFp16;
  return std::nullopt;
}

// A GPU's TensorDevice. Queues on `stream`, of `device`; both outlive it. Waits no longer than
// `timeout` for a step, or for measuring a plan. Unavailable if the GPU does not support the
// precision, or the build has no CUDA; Internal with the libraries' error.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device& device,
                                                                  DeviceStream& stream,
                                                                  Precision precision,
                                                                  std::chrono::nanoseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_
