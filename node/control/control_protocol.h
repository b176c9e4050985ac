// The rules that both ends of a control connection keep, rank 0's coordinator (coordinator.h) and a
// node's line (control_line.h): which nodes may register and fit into the run, how messages are
// numbered so that each arrives once, and the time by which both judge.
//
// Functions are pure and safe from any thread, classes are thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_CONTROL_PROTOCOL_H_
#define GRAPEVINE_NODE_CONTROL_CONTROL_PROTOCOL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "node/control/control.pb.h"
#include "node/identity/authentication.h"

namespace grapevine {

// The time by which rank 0 and the nodes judge silence and deadlines: TimeSinceBoot
// (system/boot_clock.h), or the time of a test.
using SteadyTime = std::chrono::steady_clock::time_point;

inline constexpr uint32_t kControlProtocolVersion = 13;

// Adds the proof that the node has the run's token. The proof holds for this process, this address
// and this call only: a listener can neither pose as another node with it nor call again.
void Prove(const RunToken& token, control::Registration* registration);
bool IsProven(const control::Registration& registration, const RunToken& token);

// Returns whether a process comes into a run that is under way for the first time.
inline bool ComesAnew(const control::Registration& registration) {
  return registration.joins() && registration.run_id().empty();
}

// Returns why the node of `given` cannot be in the run of `own` (rank 0's own registration): the
// field, both values and the remedy. Empty if it fits. Once the run is under way, agreements that
// concern only the start are not compared.
enum class RunStage { kStart, kUnderWay };
std::string Objection(const control::Registration& own, const control::Registration& given,
                      RunStage stage = RunStage::kStart);

// Returns why a node with these parts cannot be in a run that goes on from `resumed`. Empty if it
// can.
std::string PartObjection(const control::Resumed& resumed, const control::Registration& given);

// The unacknowledged messages of one direction of a control connection, which outlives its streams.
//
// A message that must arrive has a number, from 1 on, and is kept until the other end acknowledges
// it. When a stream has broken, all kept messages are sent again on the next one, in order; the
// receiver skips those that it has had. Thus each arrives once, whatever was lost in between.
template <typename Message>
class UnacknowledgedMessages {
 public:
  // Numbers the message and keeps it.
  const Message& Add(Message message) {
    message.set_number(++last_);
    return kept_.emplace_back(std::move(message));
  }
  // Drops the messages that the other end has received. Returns false if it cannot have received so
  // many.
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

// Counts the messages of one direction that have arrived.
class ReceivedMessages {
 public:
  enum class Arrival { kNew, kAgain, kGap };
  // Classifies a message. A message without a number (0) is always new.
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

#endif  // GRAPEVINE_NODE_CONTROL_CONTROL_PROTOCOL_H_
