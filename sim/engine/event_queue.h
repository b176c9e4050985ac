// The simulator's event queue: a monotone priority queue over integer time, and the kinds of events
// that the simulator puts into it.
//
// A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990): an event lies in the bucket of the highest
// bit in which its time differs from the current time, and moves to lower buckets as its time
// approaches. Every move is sequential in memory, which is what keeps the cost of an event flat up
// to millions of them; nothing is allocated once the buckets have grown.
//
// Events of the same time come out in the order in which they went in, so a
// simulation is a function of its input.
#ifndef GRAPEVINE_SIM_ENGINE_EVENT_QUEUE_H_
#define GRAPEVINE_SIM_ENGINE_EVENT_QUEUE_H_

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/nanoseconds.h"

namespace grapevine {

// Thread-compatible.
template <typename Payload>
class EventQueue {
 public:
  struct Event {
    Nanoseconds time;
    Payload payload;
  };

  // Adds an event. `time` must not be before the current time.
  void Push(Nanoseconds time, const Payload& payload) {
    CHECK_GE(time, now_) << "an event in the past";
    Insert({time, payload});
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Returns whether an event of the current time is left.
  bool more_now() const { return head_ != buckets_[0].size(); }
  // Moves the current time to that of the earliest event, and returns it. The queue must not be
  // empty.
  Nanoseconds next_time() {
    if (!more_now()) Advance();
    return now_;
  }

  Event Pop() {
    next_time();
    --size_;
    return buckets_[0][head_++];
  }

 private:
  static constexpr size_t kBuckets = 65;

  void Insert(const Event& event) {
    const size_t bucket = std::bit_width(static_cast<uint64_t>(event.time ^ now_));
    buckets_[bucket].push_back(event);
    if (bucket > 0) occupied_ |= uint64_t{1} << (bucket - 1);
  }

  // Moves time to the earliest event, whose bucket is redistributed: all its events land lower,
  // those of exactly that time in bucket 0.
  void Advance() {
    CHECK_NE(occupied_, 0u) << "no event is left";
    buckets_[0].clear();
    head_ = 0;
    const size_t lowest = std::countr_zero(occupied_) + 1;
    occupied_ &= occupied_ - 1;
    moving_.swap(buckets_[lowest]);
    now_ = moving_.front().time;
    if (std::ranges::all_of(moving_, [&](const Event& e) { return e.time == now_; })) {
      // Nodes are in lockstep: all events have the same time, and nothing is to be sorted.
      buckets_[0].insert(buckets_[0].end(), moving_.begin(), moving_.end());
    } else {
      now_ = std::ranges::min_element(moving_, {}, &Event::time)->time;
      for (const Event& event : moving_) Insert(event);
    }
    moving_.clear();
    // The larger of the two vectors stays in the bucket, so that capacities do not wander.
    if (moving_.capacity() > buckets_[lowest].capacity()) moving_.swap(buckets_[lowest]);
  }

  Nanoseconds now_ = 0;
  size_t size_ = 0;
  size_t head_ = 0;        // the next event of bucket 0; earlier ones are consumed
  uint64_t occupied_ = 0;  // bit b-1 is set if bucket b has events
  std::array<std::vector<Event>, kBuckets> buckets_;
  std::vector<Event> moving_;
};

enum class SimEventKind : uint32_t {
  kGradient,    // a part of the gradient of node `index` is ready; `version` says which
  kResume,      // node `index` has time for the next event in its mailbox
  kDepart,      // message `index` may begin to flow
  kAlarm,       // an alarm that the network set: flow `index`, `version`
  kArrival,     // message `index` is complete at its receiver
  kCredits,     // held credits of node `index` may be due
  kNotice,      // notice `index` has reached its node
  kReceipt,     // the sender of message `index` learns that the message has arrived
  kDeath,       // death `index` of those that were ordered
  kReturn,      // the process in the place of dead node `index` asks to join
  kMembership,  // news `index` of the membership
  kWake,        // the observer asked to be woken
};

// Kept to eight bytes: with a million nodes, an event queue costs memory traffic.
struct SimEvent {
  SimEventKind kind : 4;
  uint32_t version : 28;
  uint32_t index;
};
static_assert(sizeof(SimEvent) == 8);

using SimQueue = EventQueue<SimEvent>;

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_EVENT_QUEUE_H_
