#include "model/pinned_batch_memory.h"

#include <glog/logging.h>

#include <cstdint>
#include <utility>

#include "kernels/aligned_buffer.h"

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

void PinnedBatchMemory::Release(void* memory) {
  MutexLock lock(mutex_);
  given_.erase(memory);
}

}  // namespace grapevine
