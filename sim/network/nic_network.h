// The latency-bandwidth network: interfaces are the only bottlenecks.
//
// Every host has a NIC whose egress and ingress carry at most `bandwidth` each. A NIC's direction
// divides its bandwidth equally among its flows, and a flow runs at the smaller of its two shares;
// what a flow cannot use of one share is not given to others (flow_network.h does that). On uniform
// patterns (rings, tori, matchings, allreduces, one server) the two agree, and here a change
// touches only the flows of two NICs: this model is the faster one. The latency is one way, added
// once after the last byte, and occupies nothing (the Hockney model: latency + bytes / bandwidth
// for a flow alone).
//
// Equal shares of equal flows end at one moment, which packets cannot: they leave one after the
// other. With `queued` bytes, so much of the end of a flow waits in its sender's queue, and leaves
// at the whole bandwidth of the egress, that of the flow that began first before others. What the
// egress holds back meanwhile keeps its share of the receiver, whose other flows do not grow at
// once (measured with up to three neighbours; docs/simulator-accuracy.md). A flow with a rate of
// its own, below the bandwidth, makes no queue.
#ifndef GRAPEVINE_SIM_NETWORK_NIC_NETWORK_H_
#define GRAPEVINE_SIM_NETWORK_NIC_NETWORK_H_

#include <cstdint>
#include <vector>

#include "sim/network/fluid_flows.h"
#include "sim/network/network_model.h"

namespace grapevine {

struct NicOptions {
  // Goodput of each direction of each NIC, bytes per nanosecond (GB/s).
  double bandwidth = 0.125;
  Nanoseconds latency = 0;
  // Both directions share the bandwidth.
  bool half_duplex = false;
  // Bytes of a flow, in full duplex only; 0: all of it shares.
  double queued = 0;
};

// Thread-compatible.
class NicNetwork final : public NetworkModel {
 public:
  NicNetwork(Rank nodes, const NicOptions& options, AlarmClock* clock);

  void Start(FlowId id, const Flow& flow, Nanoseconds now) override;
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) override;
  void Settle(Nanoseconds now) override;
  double Left(FlowId id, Nanoseconds now) const override {
    return flows_.Left(id, now) + tails_[id].bytes;
  }
  double rate(FlowId id) const override { return flows_.rate(id); }
  Nanoseconds Latency(Rank from, Rank to) const override { return from == to ? 0 : latency_; }

 private:
  // The flows of a direction are a list through `links_`.
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Direction {
    uint32_t first = kNone;
    uint32_t flows = 0;
    bool dirty = false;
    // Of the flows whose ends are queued, the one that began first: it has the direction alone.
    uint32_t alone = kNone;
  };
  // A flow in the list of one of its two directions: number 2*id (the sender's)
  // or 2*id+1 (the receiver's).
  struct Link {
    uint32_t direction = kNone;
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };

  // The end of a flow: what is not queued yet, and how many flows began before it.
  struct Tail {
    double bytes = 0;
    bool queued = false;
    uint64_t order = 0;
  };

  // The rest of a flow has left: its end goes into the queue.
  void Queue(FlowId id, Nanoseconds now);
  void FindAlone(uint32_t direction);
  void Insert(uint32_t link, uint32_t direction);
  void Remove(uint32_t link);
  void MarkDirty(uint32_t direction);
  double Share(uint32_t link) const;
  void Rate(FlowId id, Nanoseconds now);

  const double bandwidth_;
  const Nanoseconds latency_;
  const double queued_;
  const uint32_t ingress_;  // offset of the receiving directions; 0 in half duplex

  FluidFlows flows_;
  std::vector<double> max_rates_;
  std::vector<Tail> tails_;
  uint64_t begun_ = 0;
  std::vector<Direction> directions_;
  std::vector<Link> links_;
  std::vector<uint32_t> dirty_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NIC_NETWORK_H_
