// The flow-level network: messages share the links of a physical network with
// max-min fairness.
//
// Every message is one flow over its route (platform.h). Rates are fair at every moment: what a
// flow cannot use, others get. The latency is the sum of the links' and is added once after the
// last byte. Ranks on one host talk at the platform's loopback rate, without latency, and bypass
// all links.
#ifndef GRAPEVINE_SIM_NETWORK_FLOW_NETWORK_H_
#define GRAPEVINE_SIM_NETWORK_FLOW_NETWORK_H_

#include <memory>
#include <span>
#include <vector>

#include "sim/network/fluid_flows.h"
#include "sim/network/max_min.h"
#include "sim/network/network_model.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Thread-compatible; several may use one platform at once.
class FlowNetwork final : public NetworkModel {
 public:
  // hosts[r] is where rank r runs; there are routes between all of them. The clock outlives this.
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

#endif  // GRAPEVINE_SIM_NETWORK_FLOW_NETWORK_H_
