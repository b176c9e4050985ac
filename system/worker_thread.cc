#include "system/worker_thread.h"

#include <glog/logging.h>

#include <utility>

namespace grapevine {
namespace {

// Waits end by a notification; the deadline only bounds a lost one.
constexpr std::chrono::seconds kNextLook{1};

}  // namespace

WorkerThread::WorkerThread() {
  thread_ = std::thread([this] { Loop(); });
}

WorkerThread::~WorkerThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void WorkerThread::Do(std::function<void()> job) {
  MutexLock lock(mutex_);
  CHECK_LT(waiting_.size(), kMaxWaiting) << "a worker is given more than it does";
  waiting_.push_back(std::move(job));
  changed_.NotifyAll();
}

bool WorkerThread::Drain(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (busy_ || !waiting_.empty()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    changed_.WaitUntil(mutex_, deadline);
  }
  return true;
}

std::function<void()> WorkerThread::Next() {
  MutexLock lock(mutex_);
  busy_ = false;
  changed_.NotifyAll();
  while (waiting_.empty() && !stopping_) {
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kNextLook);
  }
  if (stopping_) return nullptr;
  std::function<void()> job = std::move(waiting_.front());
  waiting_.pop_front();
  busy_ = true;
  return job;
}

void WorkerThread::Loop() {
  while (const std::function<void()> job = Next()) job();
}

}  // namespace grapevine
