#include "node/control/notice_throttle.h"

#include <utility>

namespace grapevine {

bool NoticeThrottle::Admit(Time now) {
  if (count_ == 0 || now >= begin_ + interval_) {
    begin_ = now;
    count_ = 0;
  }
  if (++count_ <= most_) return true;
  ++held_back_;
  return false;
}

int64_t NoticeThrottle::TakeHeldBack(Time now) {
  return now < begin_ + interval_ ? 0 : std::exchange(held_back_, 0);
}

}  // namespace grapevine
