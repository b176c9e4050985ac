#include "node/transport/edge/message_checksum.h"

#include <bit>

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

uint32_t WithNote(uint32_t crc32c, const Note& note) {
  if (note == Note{}) return crc32c;
  const uint64_t words[] = {std::bit_cast<uint64_t>(note.weight),
                            std::bit_cast<uint64_t>(note.clock)};
  static_assert(std::endian::native == std::endian::little);
  return Crc32c(crc32c, words, sizeof(words));
}

std::shared_ptr<MessageChecksum> ChecksumsInFlight::Of(const SharedBytes& message) {
  MutexLock lock(mutex_);
  // Few are in flight at a time: sweeping costs less than tidying up on release.
  std::erase_if(checksums_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<MessageChecksum>& known = checksums_[Key(message.begin, message.size)];
  std::shared_ptr<MessageChecksum> checksum = known.lock();
  if (checksum == nullptr) known = checksum = std::make_shared<MessageChecksum>(message);
  return checksum;
}

}  // namespace grapevine
