// The progress of flows: what every network needs besides the question of which rate each flow
// gets.
//
// Thread-compatible.
#ifndef GRAPEVINE_SIM_NETWORK_FLUID_FLOWS_H_
#define GRAPEVINE_SIM_NETWORK_FLUID_FLOWS_H_

#include <cstdint>
#include <vector>

#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

class FluidFlows {
 public:
  // The clock outlives this.
  explicit FluidFlows(AlarmClock* clock) : clock_(clock) {}

  // A flow of `bytes` at rate 0.
  void Begin(FlowId id, double bytes, Nanoseconds now);
  // From `now` on, in bytes per nanosecond; sets the alarm for the flow's end.
  void SetRate(FlowId id, double rate, Nanoseconds now);
  double rate(FlowId id) const { return progress_[id].rate; }
  // The bytes that have not left.
  double Left(FlowId id, Nanoseconds now) const;
  // Whether the flow has ended; false for an alarm that was replaced.
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now);

 private:
  struct Progress {
    double remaining = 0;  // bytes, at `updated`
    double rate = 0;
    Nanoseconds updated = 0;
    Nanoseconds finish = 0;  // at this rate
    Nanoseconds alarm = 0;   // the one that is set; not after `finish` unless rates rose
    uint32_t version = 0;    // of that alarm; goes on when the slot is used again
  };

  AlarmClock* const clock_;
  std::vector<Progress> progress_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_FLUID_FLOWS_H_
