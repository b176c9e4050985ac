#include "kernels/cuda/cuda_gpu.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/cuda_stream.h"

namespace grapevine {
namespace {

// What this build has device code for (third_party/cuda/cuda_library.bzl).
constexpr int kOldest = 75;

absl::Status NoUsableGpu(std::string_view why) {
  return absl::UnavailableError(absl::StrCat("no usable GPU: ", std::string(why)));
}

class DeviceMemory final : public MemorySource {
 public:
  explicit DeviceMemory(int device) : device_(device) {}

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaMalloc(&memory, static_cast<size_t>(bytes));
    if (error == cudaSuccess) return memory;
    cudaGetLastError();  // that there was no memory is no state of the device
    return CudaStatus(error, absl::StrCat("cudaMalloc of ", bytes, " bytes"));
  }
  void Free(void* memory) override { cudaFree(memory); }

 private:
  const int device_;
};

// Copied by any GPU; allocated by one, so that no other gets a context.
class PinnedMemory final : public MemorySource {
 public:
  explicit PinnedMemory(int device) : device_(device) {}

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) {
      error = cudaHostAlloc(&memory, static_cast<size_t>(bytes), cudaHostAllocPortable);
    }
    if (error == cudaSuccess) return memory;
    cudaGetLastError();
    return CudaStatus(error, absl::StrCat("cudaHostAlloc of ", bytes, " bytes"));
  }
  void Free(void* memory) override { cudaFreeHost(memory); }

 private:
  const int device_;
};

// The runtime calls a missing driver an old one.
std::string Reason(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver) {
    return absl::StrCat("there is no NVIDIA driver, or it is older than CUDA ",
                        CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10, " needs");
  }
  return std::string(CudaStatus(error, "cudaGetDeviceCount").message());
}

absl::StatusOr<GpuInfo> InfoOf(int index) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (error != cudaSuccess) return CudaStatus(error, "cudaGetDeviceProperties");
  return GpuInfo{.index = index,
                 .name = properties.name,
                 .memory = static_cast<int64_t>(properties.totalGlobalMem),
                 .compute_capability = 10 * properties.major + properties.minor};
}

}  // namespace

absl::StatusOr<std::vector<GpuInfo>> FindGpus() {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess) return NoUsableGpu(Reason(counted));
  std::vector<GpuInfo> gpus;
  std::string too_old;
  for (int index = 0; index < count; ++index) {
    absl::StatusOr<GpuInfo> gpu = InfoOf(index);
    if (!gpu.ok()) return NoUsableGpu(std::string(gpu.status().message()));
    if (gpu->compute_capability < kOldest) {
      absl::StrAppend(&too_old, too_old.empty() ? "" : ", ", gpu->name);
    } else {
      gpus.push_back(*std::move(gpu));
    }
  }
  if (!gpus.empty()) return gpus;
  if (too_old.empty()) return NoUsableGpu("the machine has none");
  return NoUsableGpu(
      absl::StrCat(too_old, " is older than compute capability ", kOldest / 10, ".", kOldest % 10));
}

absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int index) {
  ASSIGN_OR_RETURN(const std::vector<GpuInfo> gpus, FindGpus());
  for (const GpuInfo& gpu : gpus) {
    if (gpu.index == index) return std::make_unique<CudaGpu>(gpu);
  }
  return absl::NotFoundError(
      absl::StrCat("there is no usable GPU ", index, "; the machine has ", gpus.size()));
}

CudaGpu::CudaGpu(const GpuInfo& info)
    : index_(info.index),
      name_(absl::StrCat("cuda:", info.index, " (", info.name, ")")),
      memory_source_(std::make_unique<DeviceMemory>(info.index)),
      pinned_source_(std::make_unique<PinnedMemory>(info.index)),
      memory_(memory_source_.get()),
      pinned_(pinned_source_.get()) {}

absl::StatusOr<std::shared_ptr<void>> CudaGpu::Allocate(int64_t bytes, std::string_view what) {
  return memory_.Take(bytes, absl::StrCat(std::string(what), " on ", name_));
}

absl::StatusOr<std::shared_ptr<void>> CudaGpu::AllocatePinned(int64_t bytes,
                                                              std::string_view what) {
  return pinned_.Take(bytes, absl::StrCat(std::string(what), ", pinned for ", name_));
}

absl::StatusOr<std::unique_ptr<DeviceStream>> CudaGpu::NewStream(StreamPriority priority) {
  ASSIGN_OR_RETURN(std::unique_ptr<CudaStream> stream, CudaStream::Make(index_, priority));
  return stream;
}

}  // namespace grapevine
