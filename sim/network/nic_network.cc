#include "sim/network/nic_network.h"

#include <algorithm>
#include <utility>

namespace grapevine {

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

}  // namespace grapevine
