#include "model/data/batch.h"

#include <glog/logging.h>

#include <cstdint>
#include <utility>

#include "base/status.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {

void* PinnedBatchMemory::Allocate(size_t bytes) {
  absl::StatusOr<std::shared_ptr<void>> memory =
      device_->AllocatePinned(static_cast<int64_t>(bytes), "a batch");
  if (!memory.ok()) {
    LOG(WARNING) << memory.status().message() << "; copies of batches will be slower";
    const auto elements = static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
    memory = std::shared_ptr<void>(NewSharedVector(elements).data);
  }
  void* const begin = memory->get();
  MutexLock lock(mutex_);
  given_[begin] = *std::move(memory);
  return begin;
}

std::shared_ptr<const DeviceCopy> PinnedBatchMemory::Upload(const void* memory, size_t bytes) {
  MutexLock lock(mutex_);
  if (!uploads_ahead_) return nullptr;
  absl::StatusOr<std::shared_ptr<const DeviceCopy>> copy = Queue(memory, bytes);
  if (copy.ok()) return *std::move(copy);
  // Uploads are not tried again for every batch: an attempt without room waits for the device.
  uploads_ahead_ = false;
  LOG(WARNING) << copy.status().message() << "; batches go to the device when they are needed";
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const DeviceCopy>> PinnedBatchMemory::Queue(const void* memory,
                                                                           size_t bytes) {
  if (uploads_ == nullptr) {
    ASSIGN_OR_RETURN(uploads_, device_->NewStream(StreamPriority::kHigh));
  }
  return DeviceCopy::Make(*device_, *uploads_, memory, static_cast<int64_t>(bytes),
                          "a batch that is brought ahead");
}

void PinnedBatchMemory::Release(void* memory) {
  MutexLock lock(mutex_);
  given_.erase(memory);
}

}  // namespace grapevine
