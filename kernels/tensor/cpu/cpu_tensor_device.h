// The CPU's tensor operations: oneDNN where it is fast, passes of our own where fusing pays (batch
// normalization, element-wise operations).
//
// Thread-compatible. The device and its layers must be called inside a TensorThread
// (tensor_thread.h).
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_CPU_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_CPU_TENSOR_DEVICE_H_

#include <memory>
#include <span>

#include "kernels/tensor/tensor_device.h"

namespace grapevine {

class CpuTensorDevice : public TensorDevice {
 public:
  absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) override;
  absl::StatusOr<TensorFormat> PrepareInput(const TensorShape& images) override;
  int64_t alignment() const override { return 64; }
  absl::StatusOr<std::shared_ptr<void>> NewArena(int64_t bytes, std::string_view what) override;

  void BeginBatch(const HostBatch& batch, const TensorFormat& format, void* images) override;
  void ComputeLoss(const LossCall& call) override;
  absl::StatusOr<BatchResult> Finish() override;

 private:
  std::span<const int32_t> labels_;  // refers to the labels of the HostBatch
  BatchResult result_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_CPU_TENSOR_DEVICE_H_
