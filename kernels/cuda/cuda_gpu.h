// A CUDA GPU, as the project's Device.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_

#include <memory>
#include <string>

#include "kernels/cuda/caching_allocator.h"
#include "kernels/device/device.h"
#include "kernels/device/gpu.h"

namespace grapevine {

// Thread-safe.
class CudaGpu final : public Device {
 public:
  explicit CudaGpu(const GpuInfo& info);

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes, std::string_view what) override;
  absl::StatusOr<std::shared_ptr<void>> AllocatePinned(int64_t bytes,
                                                       std::string_view what) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream(StreamPriority priority) override;
  using Device::NewStream;

  int index() const { return index_; }

 private:
  const int index_;
  const std::string name_;
  const std::unique_ptr<MemorySource> memory_source_;
  const std::unique_ptr<MemorySource> pinned_source_;
  CachingAllocator memory_;
  CachingAllocator pinned_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_
