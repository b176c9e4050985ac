#include "sim/network/nic_network.h"

#include <algorithm>

namespace grapevine {

NicNetwork::NicNetwork(Rank nodes, const NicOptions& options, AlarmClock* clock)
    : bandwidth_(options.bandwidth),
      latency_(options.latency),
      ingress_(options.half_duplex ? 0 : static_cast<uint32_t>(nodes)),
      flows_(clock),
      directions_(static_cast<size_t>(nodes) + ingress_) {}

void NicNetwork::Start(FlowId id, const Flow& flow, Nanoseconds now) {
  if (id >= max_rates_.size()) {
    max_rates_.resize(id + 1);
    links_.resize(2 * (size_t{id} + 1));
  }
  max_rates_[id] = flow.max_rate;
  flows_.Begin(id, flow.bytes, now);
  Insert(2 * id, static_cast<uint32_t>(flow.from));
  Insert(2 * id + 1, ingress_ + static_cast<uint32_t>(flow.to));
}

bool NicNetwork::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  if (!flows_.OnAlarm(id, version, now)) return false;
  Remove(2 * id);
  Remove(2 * id + 1);
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
  const double rate = std::min(
      {Share(links_[2 * id].direction), Share(links_[2 * id + 1].direction), max_rates_[id]});
  if (rate != flows_.rate(id)) flows_.SetRate(id, rate, now);
}

double NicNetwork::Share(uint32_t direction) const {
  return bandwidth_ / directions_[direction].flows;
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

}  // namespace grapevine
