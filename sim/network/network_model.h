// How bytes get from rank to rank in simulated time.
//
// In a fluid model a flow has a rate at every moment, and rates change only when a flow begins or
// ends: nic_network.h (only interfaces limit) and flow_network.h (max-min fairness over links).
// packet_network.h sends a flow in segments, through queues.
#ifndef GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_
#define GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_

#include <cstdint>
#include <limits>
#include <span>

#include "base/ids.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// A slot that the caller chooses; small numbers, reused once a flow has ended.
using FlowId = uint32_t;

struct Flow {
  Rank from = 0;
  Rank to = 0;
  double bytes = 0;
  // What the sender could use if it were alone, bytes per nanosecond.
  double max_rate = std::numeric_limits<double>::infinity();
};

// The bits of an alarm's version: the queue packs it beside the kind.
inline constexpr uint32_t kAlarmVersionMask = (uint32_t{1} << 28) - 1;

// Where a network asks to be called back.
class AlarmClock {
 public:
  virtual ~AlarmClock() = default;
  // Calls NetworkModel::OnAlarm(flow, version) at `when`. Both are the network's own: where OnAlarm
  // says that a flow has left, it is `flow`.
  virtual void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) = 0;
};

// Thread-compatible. All calls carry the current time, which never falls.
class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  virtual void Start(FlowId id, const Flow& flow, Nanoseconds now) = 0;
  // Whether the flow's last byte has left; the flow is then forgotten, but for its arrival. False
  // for an alarm that a newer one has replaced, or that is the network's own affair.
  virtual bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) = 0;
  // All flows that begin and end at `now` are known: shares the bandwidth anew. May set alarms for
  // `now`.
  virtual void Settle(Nanoseconds now) = 0;

  // For a flow that has begun and not ended: the bytes that have not left, and the rate in bytes
  // per nanosecond at which they do (0 before it is settled).
  virtual double Left(FlowId id, Nanoseconds now) const = 0;
  virtual double rate(FlowId id) const = 0;

  // From the last byte's departure to its arrival on an idle network; does not occupy it.
  virtual Nanoseconds Latency(Rank from, Rank to) const = 0;
  // How long a few bytes that are sent now are under way: queues add to the latency.
  virtual Nanoseconds Delay(Rank from, Rank to, Nanoseconds /*now*/) const {
    return Latency(from, to);
  }
  // The same for what the receiver of messages says to their sender (a credit, a receipt), which it
  // says now.
  virtual Nanoseconds Reply(Rank sender, Rank receiver, Nanoseconds now) {
    return Delay(receiver, sender, now);
  }
  // When the last byte of a flow from `from` to `to` arrives, which has left now (OnAlarm).
  virtual Nanoseconds Arrival(FlowId /*id*/, Rank from, Rank to, Nanoseconds now) const {
    return now + Latency(from, to);
  }

  // By link of the platform, the bytes of the messages that began to cross it; empty where links
  // are not modelled individually.
  virtual std::span<const double> link_bytes() const { return {}; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_
