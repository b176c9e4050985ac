// Pinned host memory from which a device copies a batch's images asynchronously, while it
// computes on the previous batch.
#ifndef GRAPEVINE_MODEL_DATA_PINNED_BATCH_MEMORY_H_
#define GRAPEVINE_MODEL_DATA_PINNED_BATCH_MEMORY_H_

#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "model/data/batch.h"
#include "system/mutex.h"

namespace grapevine {

class PinnedBatchMemory final : public BatchMemory {
 public:
  // `device` outlives it.
  explicit PinnedBatchMemory(Device* device) : device_(device) {}

  // Ordinary memory, at the cost of a copy, if no more can be pinned.
  void* Allocate(size_t bytes) override;
  void Release(void* memory) override;
  // On a stream of its own, which all copies must not outlive. None after the first failure.
  std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) override;

 private:
  absl::StatusOr<std::shared_ptr<const DeviceCopy>> Queue(const void* memory, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Device* const device_;
  Mutex mutex_;
  bool uploads_ahead_ ABSL_GUARDED_BY(mutex_) = true;
  std::unique_ptr<DeviceStream> uploads_ ABSL_GUARDED_BY(mutex_);  // null before the first
  std::map<void*, std::shared_ptr<void>> given_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_PINNED_BATCH_MEMORY_H_
