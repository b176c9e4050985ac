#include "system/deadline.h"

#include <cstdint>
#include <thread>
#include <utility>

#include "system/mutex.h"

namespace grapevine {

struct BoundedCall::Turns {
  Mutex mutex;
  Condition changed;
  int64_t begun ABSL_GUARDED_BY(mutex) = 0;
  int64_t ended ABSL_GUARDED_BY(mutex) = 0;

  // Waits until `calls` calls have ended. Returns whether they have ended by `deadline`.
  bool Await(int64_t calls, std::chrono::steady_clock::time_point deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    while (ended < calls && std::chrono::steady_clock::now() < deadline) {
      changed.WaitUntil(mutex, deadline);
    }
    return ended >= calls;
  }
};

BoundedCall::BoundedCall() : turns_(std::make_shared<Turns>()) {}
BoundedCall::~BoundedCall() = default;

bool BoundedCall::Run(std::function<void()> call, std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(turns_->mutex);
  while (turns_->ended < turns_->begun) {
    if (!turns_->Await(turns_->begun, deadline)) return false;
  }
  const int64_t own = ++turns_->begun;
  std::thread([turns = turns_, call = std::move(call)]() mutable {
    call();
    call = nullptr;  // releases what it holds before its end is announced
    MutexLock alone(turns->mutex);
    ++turns->ended;
    turns->changed.NotifyAll();
  }).detach();
  return turns_->Await(own, deadline);
}

}  // namespace grapevine
