// How many streams are underway: what Shutdown waits for.
//
// Thread-safe. Held by shared_ptr, because streams may outlive the transport.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_STREAM_COUNT_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_STREAM_COUNT_H_

#include <chrono>

#include "system/mutex.h"

namespace grapevine {

class StreamCount {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
  }
  void Remove() {
    MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }
  // False when some are still underway at the deadline.
  bool AwaitNone(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (count_ > 0) {
      if (!none_.WaitUntil(mutex_, deadline)) return count_ == 0;
    }
    return true;
  }

 private:
  Mutex mutex_;
  Condition none_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_STREAM_COUNT_H_
