#include "node/runner/event_watcher.h"

#include <glog/logging.h>

#include <chrono>
#include <utility>

namespace grapevine {
namespace {

// How long a wait goes on without a look at whether the watcher stops.
constexpr auto kPatience = std::chrono::milliseconds(200);
constexpr auto kIdleWait = std::chrono::seconds(1);

}  // namespace

EventWatcher::EventWatcher(std::function<void(absl::Status why)> on_failure)
    : on_failure_(std::move(on_failure)) {
  thread_ = std::thread([this] { Loop(); });
}

EventWatcher::~EventWatcher() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void EventWatcher::Watch(std::shared_ptr<DeviceEvent> event, std::function<void()> passed) {
  {
    MutexLock lock(mutex_);
    CHECK_LT(watched_.size(), kMaxEvents) << "nobody waits for the device any more";
    watched_.push_back({std::move(event), std::move(passed)});
  }
  changed_.NotifyAll();
}

bool EventWatcher::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

bool EventWatcher::Next(Watched* watched) {
  MutexLock lock(mutex_);
  while (watched_.empty() && !stopping_) {
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kIdleWait);
  }
  if (stopping_) return false;
  *watched = std::move(watched_.front());
  watched_.pop_front();
  return true;
}

bool EventWatcher::Await(DeviceEvent& event) {
  while (true) {
    absl::Status status = event.Wait(kPatience);
    if (stopping()) return false;
    if (absl::IsDeadlineExceeded(status)) continue;
    if (!status.ok()) on_failure_(std::move(status));
    return status.ok();
  }
}

void EventWatcher::Loop() {
  Watched watched;
  while (Next(&watched)) {
    if (!Await(*watched.event)) return;
    watched.passed();
    watched = {};
  }
}

}  // namespace grapevine
