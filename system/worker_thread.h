// A thread that does one job after the other, for work that nobody is to wait for.
#ifndef GRAPEVINE_SYSTEM_WORKER_THREAD_H_
#define GRAPEVINE_SYSTEM_WORKER_THREAD_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>

#include "system/mutex.h"

namespace grapevine {

// Thread-safe; not from a job.
class WorkerThread {
 public:
  WorkerThread();
  // Ends the job that is under way, and drops those that wait.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Never waits. Callers bound what they ask for: CHECKs that few wait.
  void Do(std::function<void()> job);
  // Waits until all are done; false if that takes longer.
  bool Drain(std::chrono::steady_clock::time_point deadline);

  static constexpr size_t kMaxWaiting = 16;

 private:
  void Loop();
  // The next job; none when the thread is to end.
  std::function<void()> Next();

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_WORKER_THREAD_H_
