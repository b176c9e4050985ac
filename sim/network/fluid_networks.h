// Fluid networks: a flow has a rate at every moment. Two networks decide on the rates: NicNetwork,
// where only the hosts' interfaces limit, and FlowNetwork, max-min fair over the links of a
// physical network.
//
// Thread-compatible; several networks may use one platform at once.
#ifndef GRAPEVINE_SIM_NETWORK_FLUID_NETWORKS_H_
#define GRAPEVINE_SIM_NETWORK_FLUID_NETWORKS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/nanoseconds.h"
#include "sim/network/max_min.h"
#include "sim/network/network_model.h"
#include "sim/platform/platform.h"

namespace grapevine {

// The progress of flows, which every fluid network needs besides its rule for the rates.
class FluidFlows {
 public:
  // The clock must outlive this.
  explicit FluidFlows(AlarmClock* clock) : clock_(clock) {}

  // Begins a flow of `bytes` at rate 0.
  void Begin(FlowId id, double bytes, Nanoseconds now);
  // Sets the rate from `now` on, in bytes per nanosecond, and the alarm for the flow's end.
  void SetRate(FlowId id, double rate, Nanoseconds now);
  double rate(FlowId id) const { return progress_[id].rate; }
  // Returns the bytes that have not left.
  double Left(FlowId id, Nanoseconds now) const;
  // Returns whether the flow has ended; false for an alarm that was replaced.
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now);

 private:
  struct Progress {
    double remaining = 0;  // bytes, at `updated`
    double rate = 0;
    Nanoseconds updated = 0;
    Nanoseconds finish = 0;  // end of the flow at this rate
    Nanoseconds alarm = 0;   // the alarm that is set; not after `finish` unless rates rose
    uint32_t version = 0;    // version of that alarm; counts on when the slot is reused
  };

  AlarmClock* const clock_;
  std::vector<Progress> progress_;
};

struct NicOptions {
  // Goodput of each direction of each NIC, bytes per nanosecond (GB/s).
  double bandwidth = 0.125;
  Nanoseconds latency = 0;
  // Whether both directions share the bandwidth.
  bool half_duplex = false;
  // Bytes at the end of a flow that wait in its sender's queue, in full duplex only; 0: the whole
  // flow shares the bandwidth.
  double queued = 0;
};

// The latency-bandwidth network: interfaces are the only bottlenecks.
//
// Every host has a NIC whose egress and ingress carry at most `bandwidth` each. A NIC's direction
// divides its bandwidth equally among its flows, and a flow runs at the smaller of its two shares;
// what a flow cannot use of one share is not given to others (FlowNetwork does that). On uniform
// patterns (rings, tori, matchings, allreduces, one server) the two agree, and here a change
// touches only the flows of two NICs: this model is the faster one. The latency is one way, added
// once after the last byte, and occupies nothing (the Hockney model: latency + bytes / bandwidth
// for a flow alone).
//
// Equal flows with equal shares end at one moment. Packets cannot: they leave one after the other.
// With `queued` above 0, this many bytes at the end of a flow wait in its sender's queue. They
// leave at the whole bandwidth of the egress, those of the flow that began first before those of
// others. A flow that the egress holds back meanwhile keeps its share of the receiver, whose other
// flows do not grow at once (measured with up to three neighbours; docs/simulator-accuracy.md). A
// flow with a rate of its own, below the bandwidth, makes no queue.
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
    // The flow that began first among those whose ends are queued: it has the direction alone.
    uint32_t alone = kNone;
  };
  // A flow in the list of one of its two directions: number 2*id (the sender's)
  // or 2*id+1 (the receiver's).
  struct Link {
    uint32_t direction = kNone;
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };

  // The end of a flow: the bytes that are not queued yet, and the number of flows that began before
  // it.
  struct Tail {
    double bytes = 0;
    bool queued = false;
    uint64_t order = 0;
  };

  // Puts the end of a flow into the queue once the rest has left.
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

// The flow-level network: messages share the links of a physical network with max-min fairness
// (max_min.h).
//
// Every message is one flow over its route (platform.h). Rates are fair at every moment: what a
// flow cannot use is given to others. The latency is the sum of the links' and is added once after
// the last byte. Ranks on one host talk at the platform's loopback rate, without latency, and
// bypass all links.
class FlowNetwork final : public NetworkModel {
 public:
  // hosts[r] is the host of rank r. Routes must exist between all of them. The clock must outlive
  // this.
  FlowNetwork(std::shared_ptr<const Platform> platform,
              std::shared_ptr<const std::vector<HostId>> hosts, AlarmClock* clock);

  void Start(FlowId id, const Flow& flow, Nanoseconds now) override;
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) override;
  void Settle(Nanoseconds now) override;
  double Left(FlowId id, Nanoseconds now) const override { return flows_.Left(id, now); }
  double rate(FlowId id) const override { return flows_.rate(id); }
  Nanoseconds Latency(Rank from, Rank to) const override { return RouteOf(from, to).latency; }

  std::span<const double> link_bytes() const override { return bytes_; }

 private:
  Route RouteOf(Rank from, Rank to) const { return router_->Find((*hosts_)[from], (*hosts_)[to]); }

  const std::shared_ptr<const Platform> platform_;
  const std::shared_ptr<const std::vector<HostId>> hosts_;
  const std::unique_ptr<Router> router_;
  SharedLinks shared_;
  FluidFlows flows_;
  std::vector<double> bytes_;  // by link
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_FLUID_NETWORKS_H_
