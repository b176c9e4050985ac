// A process of a simulated run: what happens to it happens to its node.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_PROCESS_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_PROCESS_H_

#include <chrono>
#include <deque>
#include <functional>
#include <utility>

#include "base/ids.h"
#include "tests/node/whole_node/virtual_time.h"

namespace grapevine::testing {

class Process {
 public:
  Process(Rank rank, VirtualTime* time) : rank_(rank), time_(time) {}

  Rank rank() const { return rank_; }
  bool alive() const { return alive_; }
  SteadyTime now() const { return time_->now(); }
  // `after_each` runs after each thing that the process does.
  void set_after_each(std::function<void()> after_each) { after_each_ = std::move(after_each); }

  // Does something: now, at the end of a pause, or never if the process has ended.
  void Do(std::function<void()> what) {
    if (!alive_) return;
    if (paused_) return backlog_.push_back(std::move(what));
    what();
    if (alive_ && after_each_) after_each_();
  }
  // A timer that expires during a pause fires at its end.
  void After(std::chrono::nanoseconds delay, std::function<void()> what) {
    time_->After(delay, [this, what = std::move(what)] { Do(what); });
  }

  // As SIGSTOP and SIGCONT.
  void Pause() { paused_ = true; }
  void Resume() {
    if (!std::exchange(paused_, false)) return;
    for (std::deque<std::function<void()>> backlog = std::exchange(backlog_, {}); !backlog.empty();
         backlog.pop_front()) {
      Do(std::move(backlog.front()));
    }
  }
  // It has exited, or was killed.
  void End() { alive_ = false; }

 private:
  const Rank rank_;
  VirtualTime* const time_;
  std::function<void()> after_each_;
  std::deque<std::function<void()>> backlog_;
  bool alive_ = true;
  bool paused_ = false;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_PROCESS_H_
