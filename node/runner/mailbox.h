// The one way into a runner's thread: a bounded queue with a deadline on waits.
#ifndef GRAPEVINE_NODE_RUNNER_MAILBOX_H_
#define GRAPEVINE_NODE_RUNNER_MAILBOX_H_

#include <glog/logging.h>

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "system/mutex.h"

namespace grapevine {

// Thread-safe: many writers, one reader.
template <typename T>
class Mailbox {
 public:
  // What can be in it is bounded by the posts, sends and gradients that its
  // owner asked for; more than `limit` is a bug.
  explicit Mailbox(size_t limit) : limit_(limit) {}

  void Put(T item) {
    {
      MutexLock lock(mutex_);
      CHECK_LT(items_.size(), limit_) << "the mailbox overflows";
      items_.push_back(std::move(item));
    }
    nonempty_.NotifyOne();
  }

  // The oldest item, or nothing when `deadline` passed first.
  std::optional<T> Take(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (items_.empty()) {
      if (!nonempty_.WaitUntil(mutex_, deadline) && items_.empty()) return std::nullopt;
    }
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  bool empty() const {
    MutexLock lock(mutex_);
    return items_.empty();
  }

 private:
  const size_t limit_;
  mutable Mutex mutex_;
  Condition nonempty_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MAILBOX_H_
