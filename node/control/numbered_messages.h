// The messages of one direction of a control connection, which outlives its streams.
//
// A message that must come has a number, from 1 on, and is kept until the other end says that it
// has come. When a stream has broken, all that are kept are told again on the next one, in order;
// the receiver passes over what it has had. So each comes once, whatever was lost between the two.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_NUMBERED_MESSAGES_H_
#define GRAPEVINE_NODE_CONTROL_NUMBERED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace grapevine {

template <typename Message>
class UnacknowledgedMessages {
 public:
  // Gives it its number, and keeps it.
  const Message& Add(Message message) {
    message.set_number(++last_);
    return kept_.emplace_back(std::move(message));
  }
  // The other end has so many. False if that cannot be.
  bool Acknowledge(uint64_t received) {
    if (received > last_) return false;
    while (!kept_.empty() && kept_.front().number() <= received) kept_.pop_front();
    return true;
  }
  const std::deque<Message>& kept() const { return kept_; }
  size_t size() const { return kept_.size(); }

 private:
  std::deque<Message> kept_;
  uint64_t last_ = 0;
};

// What has come of the other direction.
class ReceivedMessages {
 public:
  enum class Arrival { kNew, kAgain, kGap };
  // One without a number is always new.
  Arrival Take(uint64_t number) {
    if (number == 0) return Arrival::kNew;
    if (number <= received_) return Arrival::kAgain;
    if (number > received_ + 1) return Arrival::kGap;
    received_ = number;
    return Arrival::kNew;
  }
  uint64_t received() const { return received_; }

 private:
  uint64_t received_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_NUMBERED_MESSAGES_H_
