// Messages through a network model, without algorithms: the smallest simulation.
#ifndef GRAPEVINE_TESTS_SIM_NETWORK_DRIVER_H_
#define GRAPEVINE_TESTS_SIM_NETWORK_DRIVER_H_

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/network/network_model.h"

namespace grapevine {

struct TestMessage {
  Rank from = 0;
  Rank to = 0;
  double bytes = 0;
  Nanoseconds start = 0;
  double max_rate = std::numeric_limits<double>::infinity();
};

// Belongs to one test.
class NetworkDriver final : public AlarmClock {
 public:
  // Called whenever rates are fair again, with the flows in progress by id, which is the index of
  // the message.
  std::function<void(Nanoseconds now, const std::vector<bool>& under_way)> after_settle;

  // When the last byte of each message arrived.
  const std::vector<Nanoseconds>& arrived() const { return arrived_; }

  // When the last byte of each message left.
  std::vector<Nanoseconds> Run(NetworkModel& network, const std::vector<TestMessage>& messages) {
    std::vector<Nanoseconds> left(messages.size(), -1);
    arrived_.assign(messages.size(), -1);
    std::vector<bool> under_way(messages.size(), false);
    for (size_t i = 0; i < messages.size(); ++i) {
      queue_.Push(messages[i].start, {true, static_cast<FlowId>(i), 0});
    }
    while (!queue_.empty()) {
      const Nanoseconds now = queue_.next_time();
      while (queue_.more_now()) {
        const Item item = queue_.Pop().payload;
        if (item.start) {
          const TestMessage& message = messages[item.flow];
          network.Start(item.flow,
                        {.from = message.from,
                         .to = message.to,
                         .bytes = message.bytes,
                         .max_rate = message.max_rate},
                        now);
          under_way[item.flow] = true;
        } else if (network.OnAlarm(item.flow, item.version, now)) {
          left[item.flow] = now;
          const TestMessage& message = messages[item.flow];
          arrived_[item.flow] = network.Arrival(item.flow, message.from, message.to, now);
          under_way[item.flow] = false;
        }
      }
      network.Settle(now);
      if (after_settle) after_settle(now, under_way);
    }
    return left;
  }

  void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) override {
    queue_.Push(when, {false, flow, version});
  }
  void Buffered(FlowId flow, Nanoseconds now) override { buffered.emplace_back(flow, now); }

  // Of which messages a network has said when their senders' hosts had them.
  std::vector<std::pair<FlowId, Nanoseconds>> buffered;

 private:
  struct Item {
    bool start;
    FlowId flow;
    uint32_t version;
  };
  EventQueue<Item> queue_;
  std::vector<Nanoseconds> arrived_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_SIM_NETWORK_DRIVER_H_
