// A GPU's TensorDevice, whether or not this build can make one.
//
// Two implementations, of which a build has one: CUDA, and none.
#ifndef GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/tensor_device.h"

namespace grapevine {

// In what a network computes. Replicas, gradients and sums are fp32 in all of them.
enum class Precision {
  kFp32,
  kTf32,  // products of fp32 by tensor cores, which keep 10 bits of each factor
  kBf16,  // activations and the weights that products read
  kFp16,  // likewise, with a scaled loss
};

// Queues on `stream`, of `device`; both outlive it. Unavailable where the GPU does not
// compute so, or the build has no GPUs; Internal with what the libraries say.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device& device,
                                                                  DeviceStream& stream,
                                                                  Precision precision);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
