#include "node/runner/evaluation_thread.h"

#include <chrono>
#include <utility>

#include "kernels/tensor/tensor_thread.h"

namespace grapevine {
namespace {

// Waits end by a notification; the deadline only bounds a lost one.
std::chrono::steady_clock::time_point NextLook() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(1);
}

}  // namespace

EvaluationThread::EvaluationThread(std::function<absl::Status(const AveragedModel&)> evaluate,
                                   std::function<void()> done,
                                   std::function<void(const absl::Status&)> failed)
    : evaluate_(std::move(evaluate)), done_(std::move(done)), failed_(std::move(failed)) {
  thread_ = std::thread([this] { Loop(); });
}

EvaluationThread::~EvaluationThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void EvaluationThread::Submit(AveragedModel model) {
  {
    MutexLock lock(mutex_);
    while (waiting_.size() >= kMaxWaiting && status_.ok()) changed_.WaitUntil(mutex_, NextLook());
    waiting_.push_back(std::move(model));
  }
  changed_.NotifyAll();
}

absl::Status EvaluationThread::Drain() {
  MutexLock lock(mutex_);
  while ((busy_ || !waiting_.empty()) && status_.ok()) changed_.WaitUntil(mutex_, NextLook());
  return status_;
}

void EvaluationThread::Loop() {
  const TensorThread tensor_thread;
  while (true) {
    AveragedModel model;
    {
      MutexLock lock(mutex_);
      busy_ = false;
      changed_.NotifyAll();
      while (waiting_.empty() && !stopping_) changed_.WaitUntil(mutex_, NextLook());
      if (stopping_) return;
      model = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
    }
    changed_.NotifyAll();
    absl::Status status = evaluate_(model);
    model = {};
    if (status.ok()) {
      done_();
      continue;
    }
    {
      MutexLock lock(mutex_);
      status_ = status;
    }
    failed_(status);
  }
}

}  // namespace grapevine
