// A GPU's TensorDevice, whether or not this build can make one.
//
// Two implementations, of which a build has one: CUDA, and none.
#ifndef GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/tensor_device.h"

namespace grapevine {

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

// Queues on `stream`, of `device`; both outlive it. Waits no longer than `timeout` for a step,
// or for measuring a plan. Unavailable if the GPU does not support the precision, or the build
// has no CUDA; Internal with the libraries' error.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device& device,
                                                                  DeviceStream& stream,
                                                                  Precision precision,
                                                                  std::chrono::nanoseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
