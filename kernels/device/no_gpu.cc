#include "kernels/device/device.h"

namespace grapevine {
namespace {

absl::Status NoCuda() {
  return absl::UnavailableError(
      "no usable GPU: this build has no CUDA; build it where the CUDA Toolkit and cuDNN are "
      "(docs/gpu.md)");
}

}  // namespace

absl::StatusOr<std::vector<GpuInfo>> FindGpus() { return NoCuda(); }
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int) { return NoCuda(); }

}  // namespace grapevine
