#include "node/runner/mailbox.h"

#include <glog/logging.h>

#include <utility>

namespace grapevine {

void Mailbox::Put(Item item) {
  {
    MutexLock lock(mutex_);
    CHECK_LT(items_.size(), kMaxItems) << "the mailbox overflows";
    items_.push_back(std::move(item));
  }
  nonempty_.NotifyOne();
}

std::optional<Mailbox::Item> Mailbox::Take(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (items_.empty()) {
    if (!nonempty_.WaitUntil(mutex_, deadline) && items_.empty()) return std::nullopt;
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

bool Mailbox::empty() const {
  MutexLock lock(mutex_);
  return items_.empty();
}

}  // namespace grapevine
