#include "sim/network/flow_network.h"

#include <algorithm>
#include <utility>

namespace grapevine {

FlowNetwork::FlowNetwork(std::shared_ptr<const Platform> platform,
                         std::shared_ptr<const std::vector<HostId>> hosts, AlarmClock* clock)
    : platform_(std::move(platform)),
      hosts_(std::move(hosts)),
      router_(platform_->MakeRouter()),
      shared_(platform_->links()),
      flows_(clock),
      bytes_(platform_->links().size()) {}

void FlowNetwork::Start(FlowId id, const Flow& flow, Nanoseconds now) {
  const Route route = RouteOf(flow.from, flow.to);
  for (const LinkId link : route.links) bytes_[link] += flow.bytes;
  flows_.Begin(id, flow.bytes, now);
  shared_.Add(id, route.links,
              route.links.empty() ? std::min(flow.max_rate, platform_->loopback()) : flow.max_rate);
}

bool FlowNetwork::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  if (!flows_.OnAlarm(id, version, now)) return false;
  shared_.Remove(id);
  return true;
}

void FlowNetwork::Settle(Nanoseconds now) {
  for (const FlowId id : shared_.Solve()) flows_.SetRate(id, shared_.rate(id), now);
}

}  // namespace grapevine
