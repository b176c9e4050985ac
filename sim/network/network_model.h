// How bytes get from rank to rank in simulated time.
//
// In a fluid model a flow has a rate at every moment, and rates change only when a flow begins or
// ends: fluid_networks.h. packet_network.h sends a flow in segments, through queues. What a real
// link does to a message besides carrying its bytes is an effect (tcp_effects.h).
#ifndef GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_
#define GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>

#include "algorithm/event.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// The slot of a flow, which the caller chooses: a small number, reused once the flow has ended.
using FlowId = uint32_t;

// The time of what a fault holds up for ever: after a hundred years, later than any run, and far
// from overflow.
inline constexpr Nanoseconds kFar = Nanoseconds{100} * 365 * 86400 * 1'000'000'000;

// Returns a number that identifies a connection.
inline uint64_t ConnectionKey(Rank from, Rank to) {
  return static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(to);
}

struct Flow {
  Rank from = 0;
  Rank to = 0;
  double bytes = 0;
  // The rate that the sender could use if it were alone, in bytes per nanosecond.
  double max_rate = std::numeric_limits<double>::infinity();
};

// The bits of an alarm's version, which the queue packs beside the kind.
inline constexpr uint32_t kAlarmVersionMask = (uint32_t{1} << 28) - 1;

// Calls a network back at times for which it asks.
class AlarmClock {
 public:
  virtual ~AlarmClock() = default;
  // Calls NetworkModel::OnAlarm(flow, version) at `when`. The network chooses both numbers, but if
  // OnAlarm returns that a flow has left, `flow` must be that flow.
  virtual void SetAlarm(FlowId flow, uint32_t version, Nanoseconds when) = 0;
  // Called when the sender's host has taken all of a flow into its buffer at `now`. For the sender
  // the flow has left, though its interface still sends it. Called at most once for each flow. If
  // it is not called for a flow, the sender is told when the last byte has left.
  virtual void Buffered(FlowId /*flow*/, Nanoseconds /*now*/) {}
};

// Thread-compatible. All calls carry the current time, which never falls.
class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  virtual void Start(FlowId id, const Flow& flow, Nanoseconds now) = 0;
  // Returns whether the flow's last byte has left; the flow is then forgotten, but for its arrival.
  // Returns false for an alarm that a newer one has replaced, or that concerns only the network
  // itself.
  virtual bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) = 0;
  // Shares the bandwidth anew. Called when all flows that begin and end at `now` are known. May set
  // alarms for `now`.
  virtual void Settle(Nanoseconds now) = 0;

  // For a flow that has begun and not ended, these return the bytes that have not left, and the
  // rate in bytes per nanosecond at which they leave (0 before it is settled).
  virtual double Left(FlowId id, Nanoseconds now) const = 0;
  virtual double rate(FlowId id) const = 0;

  // Returns the time from the last byte's departure to its arrival on an idle network. It does not
  // occupy the network.
  virtual Nanoseconds Latency(Rank from, Rank to) const = 0;
  // Returns how long a few bytes that are sent now are under way. Queues add to the latency.
  virtual Nanoseconds Delay(Rank from, Rank to, Nanoseconds /*now*/) const {
    return Latency(from, to);
  }
  // Sends what the receiver of messages says to their sender (a credit, a receipt) now, and returns
  // how long it is under way.
  virtual Nanoseconds Reply(Rank sender, Rank receiver, Nanoseconds now) {
    return Delay(receiver, sender, now);
  }
  // Returns when the last byte of a flow from `from` to `to` arrives that has left now (OnAlarm).
  virtual Nanoseconds Arrival(FlowId /*id*/, Rank from, Rank to, Nanoseconds now) const {
    return now + Latency(from, to);
  }

  // Returns, by link of the platform, the bytes of the messages that began to cross it; empty where
  // links are not modelled individually.
  virtual std::span<const double> link_bytes() const { return {}; }
};

// A message that begins to flow, with everything on which its effects depend.
struct Transfer {
  Rank from = 0;
  Rank to = 0;
  Tag tag;
  int64_t bytes = 0;
  Nanoseconds latency = 0;  // one way
  // The time since the last byte of earlier messages from `from` to `to` left; 0 while one is still
  // leaving, kNeverUsed for the first.
  Nanoseconds idle = 0;

  static constexpr Nanoseconds kNeverUsed = std::numeric_limits<Nanoseconds>::max();
};

// What a real link does to a message.
struct MessageEffect {
  double bytes = 0;  // bytes on the wire, retransmissions included
  double max_rate = std::numeric_limits<double>::infinity();  // bytes per nanosecond
  Nanoseconds delay = 0;  // added to the latency before it arrives
};

// Immutable: a pure function of the transfer, so that effects do not depend on
// the order of events.
class MessageEffects {
 public:
  virtual ~MessageEffects() = default;
  virtual MessageEffect Of(const Transfer& transfer) const = 0;
};

// Records when each connection was last used, for slow start after a pause. There is one for each
// ordered pair of ranks between which a message has flowed. Thread-compatible.
class Connections {
 public:
  // Notes that a message begins to flow. Returns Transfer::idle.
  Nanoseconds Begin(Rank from, Rank to, Nanoseconds now);
  // Notes that the last byte of a message has left.
  void End(Rank from, Rank to, Nanoseconds now);

 private:
  struct Connection {
    int64_t under_way = 0;
    Nanoseconds left = 0;  // when the last byte of all left
  };

  std::unordered_map<uint64_t, Connection> connections_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NETWORK_MODEL_H_
