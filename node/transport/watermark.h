// How much of a message is there, while its rest is still being written.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_WATERMARK_H_
#define GRAPEVINE_NODE_TRANSPORT_WATERMARK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "system/mutex.h"

namespace grapevine {

class Watermark {
 public:
  // The bytes below it may be read and do not change.
  int64_t level() const { return level_.load(std::memory_order_acquire); }
  // It never falls. Then calls all that want to know, on this thread.
  void Raise(int64_t level);
  // `risen` is called after every rise from now on, and must not block.
  void OnRise(std::function<void()> risen);

 private:
  std::atomic<int64_t> level_ = 0;
  Mutex mutex_;
  std::vector<std::function<void()>> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_WATERMARK_H_
