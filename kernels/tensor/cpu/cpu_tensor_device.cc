#include "kernels/tensor/cpu/cpu_tensor_device.h"

#include <algorithm>
#include <utility>

#include "kernels/tensor/cpu/cpu_layers.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {
namespace {

struct Maker {
  using Result = absl::StatusOr<std::unique_ptr<Layer>>;

  Result operator()(const Convolution& o) const { return MakeConvolutionLayer(o, request); }
  Result operator()(const InnerProduct& o) const { return MakeInnerProductLayer(o, request); }
  Result operator()(const BatchNormalization& o) const { return MakeBatchNormLayer(o, request); }
  Result operator()(const Pooling& o) const { return MakePoolingLayer(o, request); }
  Result operator()(const Relu&) const { return MakeReluLayer(request); }
  Result operator()(const Add& o) const { return MakeAddLayer(o, request); }
  Result operator()(const Subsample& o) const { return MakeSubsampleLayer(o, request); }

  const LayerRequest& request;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> CpuTensorDevice::MakeLayer(const LayerRequest& request) {
  return std::visit(Maker{request}, request.operation);
}

absl::StatusOr<TensorFormat> CpuTensorDevice::PrepareInput(const TensorShape& images) {
  return TensorFormat{images, Layout::kNhwc};
}

absl::StatusOr<std::shared_ptr<void>> CpuTensorDevice::NewArena(int64_t bytes, std::string_view) {
  const SharedVector memory = NewSharedVector(bytes / static_cast<int64_t>(sizeof(float)));
  std::fill_n(memory.data.get(), memory.size, 0.0f);
  return std::shared_ptr<void>(memory.data, memory.data.get());
}

void CpuTensorDevice::BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) {
  std::copy(batch.images.begin(), batch.images.end(), static_cast<float*>(images));
  labels_ = batch.labels;
}

void CpuTensorDevice::ComputeLoss(const LossCall& call) {
  const auto* logits = static_cast<const float*>(call.logits);
  auto* gradient = static_cast<float*>(call.gradient);
  result_.loss_sum = SoftmaxCrossEntropy(call.loss, logits, labels_, gradient);
  if (gradient == nullptr) {
    result_.correct = CountCorrect(call.loss.classes, logits, labels_);
  }
}

absl::StatusOr<BatchResult> CpuTensorDevice::Finish() { return std::exchange(result_, {}); }

}  // namespace grapevine
