// Virtual time: an agenda of events, in one reproducible order.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_VIRTUAL_TIME_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_VIRTUAL_TIME_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "node/control/control_protocol.h"

namespace grapevine::testing {

class VirtualTime {
 public:
  SteadyTime now() const { return now_; }

  // Events that are due at the same time happen in the order of the calls.
  void At(SteadyTime when, std::function<void()> what) {
    agenda_.push({when < now_ ? now_ : when, next_++, std::move(what)});
  }
  void After(std::chrono::nanoseconds delay, std::function<void()> what) {
    At(now_ + delay, std::move(what));
  }

  // Runs the next event; false if none is left.
  bool Step() {
    if (agenda_.empty()) return false;
    // The queue's top is constant; nobody looks at it again.
    Item item = std::move(const_cast<Item&>(agenda_.top()));
    agenda_.pop();
    now_ = item.when;
    item.what();
    return true;
  }

 private:
  struct Item {
    SteadyTime when;
    uint64_t order;
    std::function<void()> what;

    bool operator<(const Item& other) const {
      return std::pair(when, order) > std::pair(other.when, other.order);
    }
  };

  SteadyTime now_{};
  uint64_t next_ = 0;
  std::priority_queue<Item> agenda_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_VIRTUAL_TIME_H_
