// A network with faults that are injected on purpose (run/chaos). Another model carries the
// messages, and this one holds them where a fault is in their way.
//
// A message that would begin to flow while nothing passes begins when bytes pass again. A message
// that flows meanwhile goes on afterwards from where it was. A message that is dropped ends one
// retransmission later, and messages behind it wait.
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
  // `faults` and `clock` must outlive this; `clock` is also that of `network`. `seed` decides which
  // messages are dropped.
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
  // The version of this network's own alarms. Other models neither count this far nor give it
  // another meaning.
  static constexpr uint32_t kOwn = kAlarmVersionMask;
  enum class Stage { kWaits, kFlows, kHeld };
  struct State {
    Flow flow;
    Stage stage = Stage::kFlows;
    Nanoseconds since = 0;  // when the stage began
    Nanoseconds due = -1;   // when its own alarm rings; -1: none is set
    Nanoseconds held = 0;   // how long it has been held since it left the other model
  };

  // Holds the flow until `until`.
  void Hold(FlowId id, Stage stage, Nanoseconds now, Nanoseconds until);
  // Returns whether a flow leaves that would leave now; if not, holds it.
  bool Leaves(FlowId id, Nanoseconds now);
  // Returns when a flow that has left the other model now has passed the faults.
  Nanoseconds EndOf(State& state, Nanoseconds now);
  bool IsDropped(const Flow& flow, Nanoseconds now);
  // Returns the first time from `time` on at which bytes pass; kFar if they never do.
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
