#include "sim/network/fluid_networks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace grapevine {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
// Fewer bytes than this are rounding.
constexpr double kRoundingOfBytes = 1e-6;
// Longer than any simulation, and far from overflow.
constexpr double kLongest = 9e18;

uint32_t NextVersion(uint32_t version) { return (version + 1) & kAlarmVersionMask; }

}  // namespace

void FluidFlows::Begin(FlowId id, double bytes, Nanoseconds now) {
  if (id >= progress_.size()) progress_.resize(id + 1);
  Progress& flow = progress_[id];
  flow.remaining = bytes;
  flow.rate = 0;
  flow.updated = now;
  flow.finish = kNever;
  flow.alarm = kNever;
}

void FluidFlows::SetRate(FlowId id, double rate, Nanoseconds now) {
  Progress& flow = progress_[id];
  flow.remaining = Left(id, now);
  flow.updated = now;
  flow.rate = rate;
  if (flow.remaining <= kRoundingOfBytes) {
    flow.remaining = 0;
    flow.finish = now;
  } else {
    const double duration = std::ceil((flow.remaining - kRoundingOfBytes) / rate);
    flow.finish = duration < kLongest - static_cast<double>(now)
                      ? now + static_cast<Nanoseconds>(duration)
                      : kNever;
  }
  // An alarm that rings too early is set again when it does; one that would ring too late is
  // replaced.
  if (flow.finish >= flow.alarm) return;
  flow.alarm = flow.finish;
  flow.version = NextVersion(flow.version);
  clock_->SetAlarm(id, flow.version, flow.alarm);
}

double FluidFlows::Left(FlowId id, Nanoseconds now) const {
  const Progress& flow = progress_[id];
  return flow.remaining - flow.rate * static_cast<double>(now - flow.updated);
}

bool FluidFlows::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  Progress& flow = progress_[id];
  if (version != flow.version) return false;
  if (flow.finish <= now) {
    flow.version = NextVersion(flow.version);
    return true;
  }
  flow.alarm = flow.finish;
  if (flow.alarm != kNever) clock_->SetAlarm(id, flow.version, flow.alarm);
  return false;
}

NicNetwork::NicNetwork(Rank nodes, const NicOptions& options, AlarmClock* clock)
    : bandwidth_(options.bandwidth),
      latency_(options.latency),
      queued_(options.queued),
      ingress_(options.half_duplex ? 0 : static_cast<uint32_t>(nodes)),
      flows_(clock),
      directions_(static_cast<size_t>(nodes) + ingress_) {}

void NicNetwork::Start(FlowId id, const Flow& flow, Nanoseconds now) {
  if (id >= max_rates_.size()) {
    max_rates_.resize(id + 1);
    links_.resize(2 * (size_t{id} + 1));
    tails_.resize(id + 1);
  }
  max_rates_[id] = flow.max_rate;
  const bool queues = queued_ > 0 && flow.max_rate >= bandwidth_;
  tails_[id] = {.bytes = queues ? std::min(queued_, flow.bytes) : 0, .order = begun_++};
  flows_.Begin(id, flow.bytes - tails_[id].bytes, now);
  Insert(2 * id, static_cast<uint32_t>(flow.from));
  Insert(2 * id + 1, ingress_ + static_cast<uint32_t>(flow.to));
  if (queues && flow.bytes <= queued_) Queue(id, now);
}

void NicNetwork::Queue(FlowId id, Nanoseconds now) {
  Tail& tail = tails_[id];
  flows_.Begin(id, std::exchange(tail.bytes, 0), now);
  tail.queued = true;
  FindAlone(links_[2 * id].direction);
}

void NicNetwork::FindAlone(uint32_t direction) {
  Direction& list = directions_[direction];
  list.alone = kNone;
  for (uint32_t link = list.first; link != kNone; link = links_[link].next) {
    // Odd links are those of receivers.
    if (link % 2 != 0 || !tails_[link / 2].queued) continue;
    if (list.alone == kNone || tails_[link / 2].order < tails_[list.alone / 2].order) {
      list.alone = link;
    }
  }
  MarkDirty(direction);
}

bool NicNetwork::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  if (!flows_.OnAlarm(id, version, now)) return false;
  if (tails_[id].bytes > 0) {
    Queue(id, now);
    return false;
  }
  const uint32_t egress = links_[2 * id].direction;
  Remove(2 * id);
  Remove(2 * id + 1);
  if (tails_[id].queued) FindAlone(egress);
  return true;
}

void NicNetwork::Settle(Nanoseconds now) {
  for (const uint32_t direction : dirty_) {
    directions_[direction].dirty = false;
    for (uint32_t link = directions_[direction].first; link != kNone; link = links_[link].next) {
      Rate(link / 2, now);
    }
  }
  dirty_.clear();
}

void NicNetwork::Rate(FlowId id, Nanoseconds now) {
  const double rate = std::min({Share(2 * id), Share(2 * id + 1), max_rates_[id]});
  if (rate != flows_.rate(id)) flows_.SetRate(id, rate, now);
}

double NicNetwork::Share(uint32_t link) const {
  const Direction& list = directions_[links_[link].direction];
  if (link % 2 != 0 || list.alone == kNone) return bandwidth_ / list.flows;
  return link == list.alone ? bandwidth_ : 0;
}

void NicNetwork::Insert(uint32_t link, uint32_t direction) {
  Direction& list = directions_[direction];
  links_[link] = {.direction = direction, .previous = kNone, .next = list.first};
  if (list.first != kNone) links_[list.first].previous = link;
  list.first = link;
  ++list.flows;
  MarkDirty(direction);
}

void NicNetwork::Remove(uint32_t link) {
  const Link& gone = links_[link];
  Direction& list = directions_[gone.direction];
  (gone.previous == kNone ? list.first : links_[gone.previous].next) = gone.next;
  if (gone.next != kNone) links_[gone.next].previous = gone.previous;
  --list.flows;
  MarkDirty(gone.direction);
}

void NicNetwork::MarkDirty(uint32_t direction) {
  if (directions_[direction].dirty) return;
  directions_[direction].dirty = true;
  dirty_.push_back(direction);
}

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
