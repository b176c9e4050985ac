#include "node/transport/message_memory.h"

#include <utility>

namespace grapevine {

void Watermark::Raise(int64_t level) {
  level_.store(level, std::memory_order_release);
  std::vector<std::function<void()>> listeners;
  {
    MutexLock lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& risen : listeners) risen();
}

void Watermark::OnRise(std::function<void()> risen) {
  MutexLock lock(mutex_);
  listeners_.push_back(std::move(risen));
}

}  // namespace grapevine
