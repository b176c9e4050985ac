// Runs the operations of a network, on the CPU or a GPU.
//
// A device makes layers, owns their memory, takes batches from host memory and computes the loss.
// Its calls and those of its layers are queued in order. A CPU runs each call at once; a GPU runs
// it after the call has returned. Finish waits for all of them and returns the error of any.
//
//   BeginBatch -> layers' Forward -> ComputeLoss -> layers' Backward -> EndGradient
//              -> Finish
//
// Replicas and gradients are in device memory, batches in host memory. A device must outlive its
// layers. Thread-compatible: a device and its layers belong to one thread at a time.
//
// MakeGpuTensorDevice has two implementations: CUDA's, and one that only returns an error
// (no_gpu_tensor_device.cc). A build links one of them. The CPU's device is in
// cpu/cpu_tensor_device.h.
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

// A batch in host memory, which must not change until Finish. Images are fp32, nhwc.
struct HostBatch {
  std::span<const float> images;
  std::span<const int32_t> labels;
  // A copy of the images on this device, or null. The copy must live until Finish.
  const DeviceCopy* on_device = nullptr;
};

struct LossCall {
  CrossEntropy loss;
  const void* logits = nullptr;  // a row per label of the batch, as the last layer writes them
  void* gradient = nullptr;      // receives the gradient of the mean loss, in the logits' format;
                                 // null if it is not wanted
};

struct BatchResult {
  double loss_sum = 0;
  int64_t correct = 0;  // rows whose largest logit is the label's
};

// A recorded step, which one call queues again.
class StepRecording {
 public:
  virtual ~StepRecording() = default;
  // Queues the recorded step. Called between BeginBatch and Finish, in place of the recorded calls.
  virtual void Queue() = 0;
};

class TensorDevice {
 public:
  virtual ~TensorDevice() = default;

  // Makes the layer of an operation. Errors name the operation and quote the library.
  virtual absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) = 0;

  // Prepares for batches of images of this shape, and returns their format for the first layer.
  virtual absl::StatusOr<TensorFormat> PrepareInput(const TensorShape& images) = 0;

  // Returns the alignment of each tensor in an arena, in bytes.
  virtual int64_t alignment() const = 0;
  // Returns zeroed memory: padding that no layer writes must not hold stale NaNs. The memory is
  // freed when the last holder drops it, which must not happen before Finish. ResourceExhausted if
  // memory is short; the message says `what` it was for.
  virtual absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t bytes, std::string_view what) = 0;

  // Copies the images to `images`, which may hold more images than the batch has, and the labels to
  // where ComputeLoss reads them.
  virtual void BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) = 0;
  // Computes the loss of the current batch. Counts correct rows if no gradient is requested.
  virtual void ComputeLoss(const LossCall& call) = 0;
  struct GradientVector {
    const float* replica = nullptr;
    float* gradient = nullptr;
    int64_t parameter_size = 0;
    int64_t size = 0;
  };
  // Makes the gradient's elements final, unless they are already. Called after the last Backward.
  virtual void EndGradient(const GradientVector& vector) {}
  // Returns whether the elements of the gradient that a layer's Backward writes are final at once
  // (on a GPU: in the order of its stream). Otherwise they are final only after EndGradient.
  virtual bool final_in_parts() const { return true; }

  // Records the work that `calls` would queue, without queueing it. `calls` calls this device and
  // its layers, as between BeginBatch and Finish. The arguments of these calls must stay in place
  // as long as the recording is used, and the device must outlive the recording. Unimplemented if a
  // recording would gain nothing, Unavailable if the step has failed already.
  virtual absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) {
    return absl::UnimplementedError("calls are run at once");
  }
  // Returns the state that, besides the calls' arguments, decides what a recording holds. A
  // recording is valid as long as this value does not change.
  virtual uint64_t step_state() const { return 0; }

  // Returns the total time of the libraries' products in all layers made so far, in seconds. Each
  // product was measured alone when it was chosen, so that the sum is a lower bound of a step.
  // Returns 0 if nothing is measured.
  virtual double product_seconds() const { return 0; }

  // Waits for all queued work. Returns zeros if no loss was requested. DeadlineExceeded if it takes
  // too long; the work that is still queued then goes on using its memory.
  virtual absl::StatusOr<BatchResult> Finish() = 0;
};

// The precision of a network on a GPU. Replicas, gradients and sums are always fp32.
enum class Precision {
  kFp32,
  kTf32,  // fp32 products on tensor cores, which keep 10 bits of each factor
  kBf16,  // bf16 for activations, and for the weights that products read
  kFp16,  // fp16 for activations, and for the weights that products read; the loss is scaled
};

// Returns the precision named "fp32", "tf32", "bf16" or "fp16"; nullopt for any other name.
inline std::optional<Precision> PrecisionNamed(std::string_view name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "tf32") return Precision::kTf32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "fp16") return Precision::kFp16;
  return std::nullopt;
}

// Makes the TensorDevice of a GPU. It queues on `stream`, a stream of `device`; both must outlive
// it. It waits no longer than `timeout` for a step, or for measuring a plan. Unavailable if the GPU
// does not support the precision or the build has no CUDA; Internal with the libraries' error.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device& device,
                                                                  DeviceStream& stream,
                                                                  Precision precision,
                                                                  std::chrono::nanoseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_TENSOR_DEVICE_H_
