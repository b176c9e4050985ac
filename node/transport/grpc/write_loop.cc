#include "node/transport/grpc/write_loop.h"

namespace grapevine {

void WriteLoop::Wake() {
  {
    MutexLock lock(mutex_);
    woken_ = true;
    if (busy_ || closed_) return;
    busy_ = true;
  }
  Run();
}

void WriteLoop::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (closed_) break;
      woken_ = false;
    }
    if (write_next_()) return;
    MutexLock lock(mutex_);
    if (closed_) break;
    if (woken_) continue;
    if (finishing_) {
      closed_ = true;
      break;
    }
    busy_ = false;
    return;
  }
  ended_();
}

void WriteLoop::Finish() {
  {
    MutexLock lock(mutex_);
    finishing_ = true;
  }
  Wake();
}

void WriteLoop::Close() {
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    if (busy_) return;
  }
  ended_();
}

}  // namespace grapevine
