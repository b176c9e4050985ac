#include "kernels/tensor/cuda/cuda_tensor_device.h"

#include <glog/logging.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/status.h"
#include "kernels/cuda/cuda_gpu.h"
#include "kernels/tensor/cuda/cuda_layers.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/loss_scaling.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"

namespace grapevine {
namespace {

struct Maker {
  using Result = absl::StatusOr<std::unique_ptr<Layer>>;

  Result operator()(const Convolution& o) const {
    return MakeCudaConvolutionLayer(context, o, request);
  }
  Result operator()(const InnerProduct& o) const {
    return MakeCudaInnerProductLayer(context, o, request);
  }
  Result operator()(const BatchNormalization& o) const {
    return MakeCudaBatchNormLayer(context, o, request);
  }
  Result operator()(const Pooling& o) const { return MakeCudaPoolingLayer(context, o, request); }
  Result operator()(const Relu&) const { return MakeCudaReluLayer(context, request); }
  Result operator()(const Add& o) const { return MakeCudaAddLayer(context, o, request); }
  Result operator()(const Subsample& o) const {
    return MakeCudaSubsampleLayer(context, o, request);
  }

  CudaTensorContext& context;
  const LayerRequest& request;
};

// The results that a step copies back to the host.
struct StepResult {
  CudaLossSums sums;
  int overflow = 0;
};

class CudaTensorDevice : public TensorDevice {
 public:
  CudaTensorDevice(std::unique_ptr<CudaTensorContext> context, const CudaTensorOptions& options)
      : context_(std::move(context)),
        type_(options.type),
        scales_loss_(type_ == ElementType::kFloat16),
        loss_scaling_(options.loss_scaling) {}

  absl::Status Open() {
    ASSIGN_OR_RETURN(std::shared_ptr<void> pinned,
                     context_->memory().AllocatePinned(sizeof(StepResult), "a step's result"));
    result_ = std::static_pointer_cast<StepResult>(std::move(pinned));
    return Grow(sizeof(StepResult), "a step's result", &device_result_);
  }

  absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) override {
    context_->UseDevice();
    return std::visit(Maker{*context_, request}, request.operation);
  }

  absl::StatusOr<TensorFormat> PrepareInput(const TensorShape& images) override {
    context_->UseDevice();
    const int64_t label_bytes = images.n * static_cast<int64_t>(sizeof(int32_t));
    absl::Status status = Grow(label_bytes, "labels", &labels_);
    if (status.ok()) status = GrowPinned(label_bytes, "labels", &pinned_labels_);
    if (status.ok()) {
      status = Grow(images.n * static_cast<int64_t>(sizeof(CudaLossSums)), "losses", &row_sums_);
    }
    RETURN_IF_ERROR(status);
    return TensorFormat{images, Layout::kNhwc, type_};
  }

  int64_t alignment() const override { return kCudaAlignment; }

  absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t bytes, std::string_view what) override {
    context_->UseDevice();
    ASSIGN_OR_RETURN(std::shared_ptr<void> memory, context_->memory().Allocate(bytes, what));
    context_->Note(cudaMemsetAsync(memory.get(), 0, static_cast<size_t>(bytes), context_->stream()),
                   "cudaMemsetAsync");
    return memory;
  }

  void BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) override {
    context_->UseDevice();
    const cudaStream_t stream = context_->stream();
    rows_ = static_cast<int64_t>(batch.labels.size());
    context_->set_loss_scaled({});
    context_->Note(cudaMemsetAsync(device_result_.memory.get(), 0, sizeof(StepResult), stream),
                   "cudaMemsetAsync");
    if (type_ == ElementType::kFloat32) {
      BringImages(batch, images);
    } else {
      const void* const source = ImagesToRound(batch);
      if (source == nullptr) return;  // memory was exhausted
      context_->Note(CudaRound(static_cast<const float*>(source),
                               static_cast<int64_t>(batch.images.size()), type_, images, stream),
                     "a batch's images");
    }
    // No work of an earlier batch is in progress: Finish has waited for it.
    std::ranges::copy(batch.labels, static_cast<int32_t*>(pinned_labels_.memory.get()));
    context_->Note(cudaMemcpyAsync(labels_.memory.get(), pinned_labels_.memory.get(),
                                   batch.labels.size_bytes(), cudaMemcpyHostToDevice, stream),
                   "a batch's labels");
  }

  void ComputeLoss(const LossCall& call) override {
    float scale = 1 / static_cast<float>(rows_);
    if (scales_loss_ && call.gradient != nullptr) {
      // The scale is a power of two, so that scaling and unscaling round nothing.
      scale *= loss_scaling_.scale();
      context_->set_loss_scaled({1 / loss_scaling_.scale(), &DeviceResult()->overflow});
    }
    context_->Note(
        CudaSoftmaxCrossEntropy({.loss = call.loss,
                                 .type = type_,
                                 .rows = rows_,
                                 .logits = call.logits,
                                 .labels = static_cast<const int32_t*>(labels_.memory.get()),
                                 .gradient_scale = scale,
                                 .gradient = call.gradient,
                                 .row_sums = static_cast<CudaLossSums*>(row_sums_.memory.get()),
                                 .sums = &DeviceResult()->sums},
                                context_->stream()),
        "loss");
  }

  void EndGradient(const GradientVector& vector) override {
    if (!scales_loss_) return;
    ends_scaled_step_ = true;
    if (!loss_scaling_.drops_overflows()) return;
    context_->Note(DropOnOverflow(&DeviceResult()->overflow, vector.replica, vector.parameter_size,
                                  vector.size, vector.gradient, context_->stream()),
                   "a gradient that overflowed");
  }
  bool final_in_parts() const override { return !scales_loss_; }

  absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) override {
    if (!context_->ok()) return absl::UnavailableError("the step has failed already");
    absl::StatusOr<CudaRecording> recorded = CudaRecording::Of(context_->stream(), calls);
    const bool ends_scaled_step = std::exchange(ends_scaled_step_, false);
    absl::Status error = context_->TakeError();
    if (!recorded.ok()) return recorded.status();
    RETURN_IF_ERROR(error);
    return std::make_unique<Recording>(this, *std::move(recorded), ends_scaled_step);
  }
  // Kernels receive the scale, and addresses of memory that grows with the largest batch.
  uint64_t step_state() const override {
    return uint64_t{times_grown_} << 32 | std::bit_cast<uint32_t>(loss_scaling_.scale());
  }

  double product_seconds() const override { return context_->product_seconds(); }

  absl::StatusOr<BatchResult> Finish() override {
    context_->UseDevice();
    context_->Note(cudaMemcpyAsync(result_.get(), DeviceResult(), sizeof(StepResult),
                                   cudaMemcpyDeviceToHost, context_->stream()),
                   "a step's result");
    context_->Note(context_->Wait());
    const bool scaled = std::exchange(ends_scaled_step_, false);
    RETURN_IF_ERROR(context_->TakeError());
    if (scaled) UpdateScale(result_->overflow != 0);
    return BatchResult{.loss_sum = result_->sums.loss, .correct = result_->sums.correct};
  }

 private:
  class Recording final : public StepRecording {
   public:
    Recording(CudaTensorDevice* device, CudaRecording work, bool ends_scaled_step)
        : device_(*device), work_(std::move(work)), ends_scaled_step_(ends_scaled_step) {}

    void Queue() override {
      device_.context_->Note(work_.Queue(device_.context_->stream()), "a recorded step");
      device_.ends_scaled_step_ = ends_scaled_step_;
    }

   private:
    CudaTensorDevice& device_;
    const CudaRecording work_;
    const bool ends_scaled_step_;
  };

  struct Buffer {
    std::shared_ptr<void> memory;
    int64_t bytes = 0;
  };
  using Allocate = absl::StatusOr<std::shared_ptr<void>> (Device::*)(int64_t bytes,
                                                                     std::string_view what);

  absl::Status Grow(int64_t bytes, std::string_view what, Buffer* buffer) {
    return GrowBy(&Device::Allocate, bytes, what, buffer);
  }
  absl::Status GrowPinned(int64_t bytes, std::string_view what, Buffer* buffer) {
    return GrowBy(&Device::AllocatePinned, bytes, what, buffer);
  }
  absl::Status GrowBy(Allocate allocate, int64_t bytes, std::string_view what, Buffer* buffer) {
    if (bytes <= buffer->bytes) return absl::OkStatus();
    *buffer = {};  // freed before the new memory is allocated
    ++times_grown_;
    ASSIGN_OR_RETURN(std::shared_ptr<void> memory, (context_->memory().*allocate)(bytes, what));
    *buffer = {std::move(memory), bytes};
    return absl::OkStatus();
  }

  // Returns the address of a copy, for work that is queued from now on.
  const void* AfterArrival(const DeviceCopy& copy) {
    const auto& arrived = static_cast<const CudaEvent&>(copy.arrived());
    context_->Note(cudaStreamWaitEvent(context_->stream(), arrived.get(), 0),
                   "cudaStreamWaitEvent");
    return copy.get();
  }
  // Returns the address of the fp32 images on the GPU, for work that is queued from now on; null if
  // memory is exhausted.
  const void* ImagesToRound(const HostBatch& batch) {
    if (batch.on_device != nullptr) return AfterArrival(*batch.on_device);
    const auto bytes = static_cast<int64_t>(batch.images.size_bytes());
    context_->Note(Grow(bytes, "images", &images_));
    if (images_.memory != nullptr) BringImages(batch, images_.memory.get());
    return images_.memory.get();
  }
  // Copies the fp32 images to `images`, from the GPU or from the host.
  void BringImages(const HostBatch& batch, void* images) {
    const void* const source =
        batch.on_device != nullptr ? AfterArrival(*batch.on_device) : batch.images.data();
    context_->Note(cudaMemcpyAsync(images, source, batch.images.size_bytes(), cudaMemcpyDefault,
                                   context_->stream()),
                   "a batch's images");
  }

  StepResult* DeviceResult() const { return static_cast<StepResult*>(device_result_.memory.get()); }

  void UpdateScale(bool overflowed) {
    const float before = loss_scaling_.scale();
    const bool dropped = overflowed && loss_scaling_.drops_overflows();
    loss_scaling_.Update(overflowed);
    if (overflowed) {
      LOG(WARNING) << "A gradient overflowed fp16 at a loss scale of " << before
                   << (dropped ? "; this step has none, the next one's scale is "
                               : ", the smallest; it is kept, and the scale stays ")
                   << loss_scaling_.scale();
    }
  }

  const std::unique_ptr<CudaTensorContext> context_;
  const ElementType type_;
  const bool scales_loss_;
  LossScaling loss_scaling_;
  bool ends_scaled_step_ = false;
  int64_t rows_ = 0;
  uint32_t times_grown_ = 0;
  Buffer labels_;
  Buffer pinned_labels_;
  Buffer row_sums_;
  Buffer images_;  // fp32 images for layers of another type, of batches without a copy on the GPU
  Buffer device_result_;
  std::shared_ptr<StepResult> result_;  // pinned
};

}  // namespace

absl::StatusOr<std::unique_ptr<TensorDevice>> MakeCudaTensorDevice(
    Device& memory, cudaStream_t stream, const CudaTensorOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<CudaTensorContext> context,
                   CudaTensorContext::Make(memory, stream, options));
  auto device = std::make_unique<CudaTensorDevice>(std::move(context), options);
  RETURN_IF_ERROR(device->Open());
  return device;
}

}  // namespace grapevine
