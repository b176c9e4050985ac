#include "node/transport/edge/message_checksum.h"

#include "kernels/passes/crc32c.h"

namespace grapevine {

uint32_t MessageChecksum::Through(int64_t end) {
  MutexLock lock(mutex_);
  if (end > done_) {
    crc32c_ = Crc32c(crc32c_, data_ + done_, static_cast<size_t>(end - done_));
    done_ = end;
  }
  return crc32c_;
}

std::shared_ptr<MessageChecksum> ChecksumsInFlight::Of(const SharedSlice& slice) {
  MutexLock lock(mutex_);
  // Few are in flight at a time: sweeping costs less than tidying up on release.
  std::erase_if(checksums_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<MessageChecksum>& known = checksums_[Key(slice.begin(), slice.size)];
  std::shared_ptr<MessageChecksum> checksum = known.lock();
  if (checksum == nullptr) known = checksum = std::make_shared<MessageChecksum>(slice);
  return checksum;
}

}  // namespace grapevine
