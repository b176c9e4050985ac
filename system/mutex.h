// Locks, and hints for ThreadSanitizer.
//
// Mutex is std::mutex with annotations for Clang's thread-safety analysis (`bazel build
// --config=clang`). It is not absl::Mutex, because ThreadSanitizer reports false positives on the
// system's uninstrumented library.
#ifndef GRAPEVINE_SYSTEM_MUTEX_H_
#define GRAPEVINE_SYSTEM_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

#if defined(__SANITIZE_THREAD__)
#define GRAPEVINE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GRAPEVINE_THREAD_SANITIZER
#endif
#endif

#ifdef GRAPEVINE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace grapevine {

class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable over Mutex. Every wait has a deadline.
class Condition {
 public:
  // Waits for a notification. Returns false if the deadline passes first. Spurious wake-ups happen:
  // call it in a loop over the condition.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

// Show ThreadSanitizer an order of events that it cannot see, because an uninstrumented system
// library establishes it. No-ops in other builds.
//
//   first thread:  AnnotateHappensBefore(object); Library(object);
//   second thread: ... called back by the library ...; AnnotateHappensAfter(object);
inline void AnnotateHappensBefore([[maybe_unused]] void* object) {
#ifdef GRAPEVINE_THREAD_SANITIZER
  __tsan_release(object);
#endif
}

inline void AnnotateHappensAfter([[maybe_unused]] void* object) {
#ifdef GRAPEVINE_THREAD_SANITIZER
  __tsan_acquire(object);
#endif
}

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MUTEX_H_
