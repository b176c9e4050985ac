// A GPU's TensorDevice, whether or not this build can make one.
//
// Two implementations, of which a build has one: CUDA, and none.
#ifndef GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/precision.h"
#include "kernels/tensor/tensor_device.h"

namespace grapevine {

// Queues on `stream`, of `device`; both outlive it. Waits no longer than `timeout` for a
// step, nor for the measuring of a plan. Unavailable where the GPU does not
// compute so, or the build has no GPUs; Internal with what the libraries say.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device& device,
                                                                  DeviceStream& stream,
                                                                  Precision precision,
                                                                  std::chrono::nanoseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_GPU_TENSOR_DEVICE_H_
