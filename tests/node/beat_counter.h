// Waits for heartbeats, which show a test that time has passed on both sides.
#ifndef GRAPEVINE_TESTS_NODE_BEAT_COUNTER_H_
#define GRAPEVINE_TESTS_NODE_BEAT_COUNTER_H_

#include <chrono>

#include "system/mutex.h"
#include "tests/testing/slowness.h"

namespace grapevine {

// Thread-safe.
class BeatCounter {
 public:
  // To be called at each heartbeat.
  void Count() {
    MutexLock lock(mutex_);
    ++beats_;
    changed_.NotifyAll();
  }
  // Forgets those so far.
  void Restart() {
    MutexLock lock(mutex_);
    beats_ = 0;
  }
  // Whether `beats` of them come in time.
  bool Await(int beats) {
    const auto deadline =
        std::chrono::steady_clock::now() + testing::Patient(std::chrono::seconds(20));
    MutexLock lock(mutex_);
    while (beats_ < beats && std::chrono::steady_clock::now() < deadline) {
      changed_.WaitUntil(mutex_, deadline);
    }
    return beats_ >= beats;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int beats_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_BEAT_COUNTER_H_
