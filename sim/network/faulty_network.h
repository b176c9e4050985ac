// A network on which things go wrong on purpose (run/chaos): another model carries the messages,
// and this one holds them where a fault is in their way.
//
// A message that begins to flow while nothing passes begins when something does. One that flows
// meanwhile goes on from where it was, afterwards.
// One that is dropped ends one retransmission later, and those behind it wait.
#ifndef GRAPEVINE_SIM_NETWORK_FAULTY_NETWORK_H_
#define GRAPEVINE_SIM_NETWORK_FAULTY_NETWORK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "run/chaos/fault_timeline.h"
#include "sim/network/network_model.h"

namespace grapevine {

// Thread-compatible.
class FaultyNetwork final : public NetworkModel {
 public:
  // `faults` and `clock`, that of `network`, outlive it. `seed`: of which messages are dropped.
  FaultyNetwork(std::unique_ptr<NetworkModel> network, const FaultTimeline* faults, uint64_t seed,
                AlarmClock* clock);

  void Start(FlowId id, const Flow& flow, Nanoseconds now) override;
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) override;
  void Settle(Nanoseconds now) override { network_->Settle(now); }
  double Left(FlowId id, Nanoseconds now) const override;
  double rate(FlowId id) const override;
  Nanoseconds Latency(Rank from, Rank to) const override { return network_->Latency(from, to); }
  Nanoseconds Delay(Rank from, Rank to, Nanoseconds now) const override;
  Nanoseconds Reply(Rank sender, Rank receiver, Nanoseconds now) override;
  Nanoseconds Arrival(FlowId id, Rank from, Rank to, Nanoseconds now) const override;
  std::span<const double> link_bytes() const override { return network_->link_bytes(); }

 private:
  // Of its own alarms; no model counts so far, or means anything else by it.
  static constexpr uint32_t kOwn = kAlarmVersionMask;
  enum class Stage { kWaits, kFlows, kHeld };
  struct State {
    Flow flow;
    Stage stage = Stage::kFlows;
    Nanoseconds since = 0;  // when the stage began
    Nanoseconds due = -1;   // of its own alarm
    Nanoseconds held = 0;   // since it had left the other model
  };

  // Holds the flow for a while.
  void Hold(FlowId id, Stage stage, Nanoseconds now, Nanoseconds until);
  // It would leave now: whether it does.
  bool Leaves(FlowId id, Nanoseconds now);
  // When what has left the other model now has passed.
  Nanoseconds EndOf(State& state, Nanoseconds now);
  bool IsDropped(const Flow& flow, Nanoseconds now);
  // The first time from `time` on at which bytes pass; far away if they never do.
  Nanoseconds Passable(Rank from, Rank to, Nanoseconds time) const;

  const std::unique_ptr<NetworkModel> network_;
  const FaultTimeline* const faults_;
  const uint64_t seed_;
  AlarmClock* const clock_;
  std::vector<State> flows_;  // by id
  uint64_t draws_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_FAULTY_NETWORK_H_
