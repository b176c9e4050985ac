#include "kernels/cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"

namespace grapevine {
namespace {

// What this build has device code for (third_party/cuda/cuda_library.bzl).
constexpr int kOldest = 75;

absl::Status NoUsableGpu(std::string_view why) {
  return absl::UnavailableError(absl::StrCat("no usable GPU: ", std::string(why)));
}

}  // namespace

absl::StatusOr<std::vector<CudaDevice>> FindCudaDevices() {
  int count = 0;
  const absl::Status counted = CudaStatus(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (!counted.ok()) return NoUsableGpu(std::string(counted.message()));
  std::vector<CudaDevice> devices;
  std::string too_old;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties;
    absl::Status read =
        CudaStatus(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    if (!read.ok()) return NoUsableGpu(std::string(read.message()));
    CudaDevice device{.index = index,
                      .name = properties.name,
                      .memory = static_cast<int64_t>(properties.totalGlobalMem),
                      .compute_capability = 10 * properties.major + properties.minor};
    if (device.compute_capability < kOldest) {
      absl::StrAppend(&too_old, too_old.empty() ? "" : ", ", device.name);
    } else {
      devices.push_back(std::move(device));
    }
  }
  if (!devices.empty()) return devices;
  if (too_old.empty()) return NoUsableGpu("the machine has none");
  return NoUsableGpu(
      absl::StrCat(too_old, " is older than compute capability ", kOldest / 10, ".", kOldest % 10));
}

}  // namespace grapevine
