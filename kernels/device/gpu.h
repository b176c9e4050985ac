// The GPUs of this machine, whether or not this build can use them.
//
// Two implementations, of which a build has one: CUDA, and none.
#ifndef GRAPEVINE_KERNELS_DEVICE_GPU_H_
#define GRAPEVINE_KERNELS_DEVICE_GPU_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"

namespace grapevine {

struct GpuInfo {
  int index = 0;               // as the runtime counts
  std::string name;            // "NVIDIA H200"
  int64_t memory = 0;          // bytes
  int compute_capability = 0;  // 90 is 9.0
};

// At least one, in the runtime's order. Unavailable, with the reason: no GPU, no driver, a
// driver too old for this build, or a build without CUDA.
absl::StatusOr<std::vector<GpuInfo>> FindGpus();

// Errors as FindGpus'; NotFound for any other index.
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int index);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_GPU_H_
