#include "kernels/tensor/tensor_device.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(Device&, DeviceStream&, Precision,
                                                                  std::chrono::nanoseconds) {
  return absl::UnavailableError("this build has no GPUs");
}

}  // namespace grapevine
