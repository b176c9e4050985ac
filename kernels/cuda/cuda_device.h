// The GPUs of this machine.
//
// Thread-safety: pure functions; safe from any thread.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_DEVICE_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

struct CudaDevice {
  int index = 0;               // as the CUDA runtime counts
  std::string name;            // "NVIDIA H200"
  int64_t memory = 0;          // bytes
  int compute_capability = 0;  // 90 is 9.0
};

// At least one, in the runtime's order. Unavailable, with the runtime's reason, where
// there is no GPU, no driver, or one too old for this build.
absl::StatusOr<std::vector<CudaDevice>> FindCudaDevices();

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_DEVICE_H_
