// Host memory from which a device copies a batch's images by itself, while the
// processor does other things, and while it computes on the batch before.
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

  // Ordinary memory, which only costs a copy, where there is no more to pin.
  void* Allocate(size_t bytes) override;
  void Release(void* memory) override;
  // On a stream of its own. All copies are gone before this is. None after the first that
  // could not be made.
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
