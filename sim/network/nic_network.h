// The latency-bandwidth network: interfaces are the only bottlenecks.
//
// Every host has a NIC whose egress and ingress carry at most `bandwidth` each. A NIC's direction
// divides its bandwidth equally among its flows, and a flow runs at the smaller of its two shares;
// what a flow cannot use of one share is not given to others (flow_network.h does that). On uniform
// patterns (rings, tori, matchings, allreduces, one server) the two agree, and here a change
// touches only the flows of two NICs: this model is the faster one. The latency is one way, added
// once after the last byte, and occupies nothing (the Hockney model: latency + bytes / bandwidth
// for a flow alone).
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
};

// Thread-compatible.
class NicNetwork final : public NetworkModel {
 public:
  NicNetwork(Rank nodes, const NicOptions& options, AlarmClock* clock);

  void Start(FlowId id, const Flow& flow, Nanoseconds now) override;
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) override;
  void Settle(Nanoseconds now) override;
  double Left(FlowId id, Nanoseconds now) const override { return flows_.Left(id, now); }
  double rate(FlowId id) const override { return flows_.rate(id); }
  Nanoseconds Latency(Rank from, Rank to) const override { return from == to ? 0 : latency_; }

 private:
  // The flows of a direction are a list through `links_`.
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Direction {
    uint32_t first = kNone;
    uint32_t flows = 0;
    bool dirty = false;
  };
  // A flow in the list of one of its two directions: number 2*id (the sender's)
  // or 2*id+1 (the receiver's).
  struct Link {
    uint32_t direction = kNone;
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };

  void Insert(uint32_t link, uint32_t direction);
  void Remove(uint32_t link);
  void MarkDirty(uint32_t direction);
  double Share(uint32_t direction) const;
  void Rate(FlowId id, Nanoseconds now);

  const double bandwidth_;
  const Nanoseconds latency_;
  const uint32_t ingress_;  // offset of the receiving directions; 0 in half duplex

  FluidFlows flows_;
  std::vector<double> max_rates_;
  std::vector<Direction> directions_;
  std::vector<Link> links_;
  std::vector<uint32_t> dirty_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_NIC_NETWORK_H_
