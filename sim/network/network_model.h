// How bytes get from rank to rank in simulated time.
//
// A network is a fluid model: a flow has a rate at every moment, and rates change only when a flow
// begins or ends. Implementations: nic_network.h (only interfaces limit) and flow_network.h
// (max-min fairness over links).
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
inline constexpr uint32_t kAlarmVersionMask = (uint32_t{1} << 29) - 1;

// Where a network asks to be called back.
class AlarmClock {
 public:
  virtual ~AlarmClock() = default;
  // Calls NetworkModel::OnAlarm(flow, version) at `when`.
  virtual void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) = 0;
};

// Thread-compatible. All calls carry the current time, which never falls.
class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  virtual void Start(FlowId id, const Flow& flow, Nanoseconds now) = 0;
  // Whether the flow's last byte has left; the flow is then forgotten. False for an alarm that a
  // newer one has replaced.
  virtual bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) = 0;
  // All flows that begin and end at `now` are known: shares the bandwidth anew. May set alarms for
  // `now`.
  virtual void Settle(Nanoseconds now) = 0;

  // For a flow that has begun and not ended: the bytes that have not left, and the rate in bytes
  // per nanosecond at which they do (0 before it is settled).
  virtual double Left(FlowId id, Nanoseconds now) const = 0;
  virtual double rate(FlowId id) const = 0;

  // From the last byte's departure to its arrival; does not occupy the network.
  virtual Nanoseconds Latency(Rank from, Rank to) const = 0;

  // By link of the platform, the bytes of the messages that began to cross it; empty where links
  // are not modelled individually.
  virtual std::span<const double> link_bytes() const { return {}; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_
