#include "sim/network/max_min.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace grapevine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the common rate at which each link would be full: what its stopped flows leave, divided
// among the others; infinite for a link without others.
std::vector<double> Levels(std::span<const double> capacities, std::span<const MaxMinFlow> flows,
                           const std::vector<double>& rates, const std::vector<bool>& stopped) {
  std::vector<double> levels(capacities.begin(), capacities.end());
  std::vector<int> rising(capacities.size(), 0);
  for (size_t flow = 0; flow < flows.size(); ++flow) {
    for (const LinkId link : flows[flow].route) {
      if (stopped[flow]) {
        levels[link] -= rates[flow];
      } else {
        ++rising[link];
      }
    }
  }
  for (size_t link = 0; link < levels.size(); ++link) {
    levels[link] = rising[link] == 0 ? kInfinity : levels[link] / rising[link];
  }
  return levels;
}

double Limit(const MaxMinFlow& flow, const std::vector<double>& levels) {
  double limit = flow.max_rate;
  for (const LinkId link : flow.route) limit = std::min(limit, levels[link]);
  return limit;
}

// Levels that differ by less are equal up to rounding.
constexpr double kRoundingOfRates = 0x1p-40;
// After this many fillings in vain, the affected flows double each time, so that a change that runs
// through a long chain of links does not cost the square of its length.
constexpr int kPatience = 4;

bool Below(double a, double b) { return a < b * (1 - kRoundingOfRates); }

// The order of filling. Ties are broken by number, so that the order is equal on every machine.
struct Later {
  template <typename Candidate>
  bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.level != b.level) return a.level > b.level;
    if (a.is_flow != b.is_flow) return b.is_flow;
    return a.index > b.index;
  }
};

}  // namespace

std::vector<double> MaxMinRates(std::span<const double> capacities,
                                std::span<const MaxMinFlow> flows) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> stopped(flows.size(), false);
  for (size_t left = flows.size(); left > 0;) {
    const std::vector<double> levels = Levels(capacities, flows, rates, stopped);
    std::vector<double> limits(flows.size(), kInfinity);
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      if (!stopped[flow]) limits[flow] = Limit(flows[flow], levels);
    }
    const double lowest = *std::ranges::min_element(limits);
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      if (stopped[flow] || limits[flow] > lowest) continue;
      rates[flow] = lowest;
      stopped[flow] = true;
      --left;
    }
  }
  return rates;
}

SharedLinks::SharedLinks(std::span<const Link> links) {
  links_.reserve(links.size());
  for (const Link& link : links) {
    CHECK_GT(link.capacity, 0);
    links_.push_back({.left = RateSum(link.capacity),
                      .level = kInfinity,
                      .queued = kInfinity,
                      .first = {kNone, kNone, kNone},
                      .sharers = 0,
                      .touched = false,
                      .decided = false});
  }
}

void SharedLinks::Add(FlowId id, std::span<const LinkId> route, double max_rate) {
  CHECK(!route.empty() || std::isfinite(max_rate)) << "nothing limits flow " << id;
  if (id >= flows_.size()) flows_.resize(id + 1);
  FlowState& flow = flows_[id];
  const auto hops = static_cast<uint32_t>(route.size());
  flow = {.max_rate = max_rate,
          .first_crossing = NewCrossings(hops),
          .hops = hops,
          .affected = static_cast<uint32_t>(affected_.size()),
          .open = true};
  affected_.push_back(id);
  for (uint32_t hop = 0; hop < hops; ++hop) {
    const uint32_t crossing = flow.first_crossing + hop;
    crossings_[crossing].link = route[hop];
    crossings_[crossing].flow = id;
    Insert(crossing, kOpen);
    Touch(route[hop]);
  }
}

void SharedLinks::Remove(FlowId id) {
  FlowState& flow = flows_[id];
  for (uint32_t hop = 0; hop < flow.hops; ++hop) {
    const uint32_t crossing = flow.first_crossing + hop;
    Touch(crossings_[crossing].link);
    Erase(crossing);
  }
  free_crossings_[flow.hops].push_back(flow.first_crossing);
  if (flow.affected == kNone) return;
  affected_[flow.affected] = affected_.back();
  flows_[affected_.back()].affected = flow.affected;
  affected_.pop_back();
  flow.affected = kNone;
}

std::span<const FlowId> SharedLinks::Solve() {
  for (int fillings = 1; !Fill(); ++fillings) {
    for (const FlowId id : affected_) {
      if (!flows_[id].open) Open(id);
    }
    if (fillings >= kPatience) AffectNeighbours();
  }
  changed_.clear();
  for (const FlowId id : affected_) {
    FlowState& flow = flows_[id];
    flow.affected = kNone;
    if (flow.rate == flow.settled) continue;
    flow.settled = flow.rate;
    changed_.push_back(id);
  }
  affected_.clear();
  for (const LinkId id : touched_) {
    LinkState& link = links_[id];
    link.touched = false;
    if (link.sharers == 0) link.level = kInfinity;
  }
  touched_.clear();
  return changed_;
}

bool SharedLinks::Fill() {
  const size_t known = affected_.size();
  filled_to_ = 0;
  overturned_ = false;
  candidates_.clear();
  for (const LinkId id : touched_) {
    LinkState& link = links_[id];
    link.decided = false;
    link.queued = kInfinity;
    if (link.sharers == 0) continue;
    link.queued = Level(link);
    candidates_.push_back({link.queued, id, false});
  }
  for (const FlowId id : affected_) {
    if (flows_[id].max_rate < kInfinity) candidates_.push_back({flows_[id].max_rate, id, true});
  }
  std::ranges::make_heap(candidates_, Later());
  bool again = false;
  while (!candidates_.empty() && !again) {
    std::ranges::pop_heap(candidates_, Later());
    const Candidate lowest = candidates_.back();
    candidates_.pop_back();
    if (lowest.is_flow) {
      FillFlow(lowest.index);
    } else {
      FillLink(lowest.index, lowest.level);
    }
    // If no more flows were affected, the difference is only rounding.
    again = overturned_ && affected_.size() > known;
  }
  filled_ += static_cast<int64_t>(affected_.size());
  return !again;
}

void SharedLinks::FillFlow(FlowId id) {
  const FlowState& flow = flows_[id];
  if (!flow.open) return;
  Decide(flow.max_rate);
  Close(id, flow.max_rate, kNone);
}

void SharedLinks::FillLink(LinkId id, double expected) {
  LinkState& link = links_[id];
  if (expected != link.queued) return;  // replaced by a lower one
  link.queued = kInfinity;
  if (link.decided || link.sharers == 0) return;
  double level = Level(link);
  // Flows that were closed at lower levels have left it more.
  if (level > expected) return Queue(id);
  if (link.first[kHeldBack] != kNone) {
    if (Below(level, link.level) || Below(link.level, level)) return AffectHeldBack(id);
    level = link.level;
  }
  if (level < link.level && AffectFasterGuests(id, level)) return;
  Decide(level);
  link.level = level;
  link.decided = true;
  while (link.first[kOpen] != kNone) Close(crossings_[link.first[kOpen]].flow, level, id);
}

void SharedLinks::Decide(double level) {
  if (Below(level, filled_to_)) overturned_ = true;
  filled_to_ = std::max(filled_to_, level);
}

void SharedLinks::Close(FlowId id, double rate, LinkId bottleneck) {
  FlowState& flow = flows_[id];
  flow.rate = rate;
  flow.open = false;
  for (uint32_t hop = 0; hop < flow.hops; ++hop) {
    const uint32_t crossing = flow.first_crossing + hop;
    Erase(crossing);
    Insert(crossing, crossings_[crossing].link == bottleneck ? kHeldBack : kGuest);
  }
}

void SharedLinks::Open(FlowId id) {
  FlowState& flow = flows_[id];
  for (uint32_t hop = 0; hop < flow.hops; ++hop) {
    const uint32_t crossing = flow.first_crossing + hop;
    Erase(crossing);
    Insert(crossing, kOpen);
  }
  flow.open = true;
}

void SharedLinks::Affect(FlowId id) {
  FlowState& flow = flows_[id];
  Open(id);
  flow.affected = static_cast<uint32_t>(affected_.size());
  affected_.push_back(id);
  if (flow.max_rate < kInfinity) Push({flow.max_rate, id, true});
  for (uint32_t hop = 0; hop < flow.hops; ++hop) {
    const LinkId link = crossings_[flow.first_crossing + hop].link;
    Touch(link);
    if (links_[link].decided) overturned_ = true;
    Queue(link);
  }
}

void SharedLinks::AffectHeldBack(LinkId id) {
  while (links_[id].first[kHeldBack] != kNone) {
    Affect(crossings_[links_[id].first[kHeldBack]].flow);
  }
}

bool SharedLinks::AffectFasterGuests(LinkId id, double level) {
  const size_t known = affected_.size();
  for (uint32_t crossing = links_[id].first[kGuest]; crossing != kNone;) {
    const FlowId flow = crossings_[crossing].flow;
    crossing = crossings_[crossing].next;
    if (flows_[flow].affected == kNone && Below(level, flows_[flow].rate)) Affect(flow);
  }
  return affected_.size() > known;
}

void SharedLinks::AffectNeighbours() {
  const size_t enough = 2 * affected_.size();
  // `touched_` grows during the loop.
  for (size_t i = 0; i < touched_.size() && affected_.size() < enough; ++i) {
    AffectHeldBack(touched_[i]);
    AffectFasterGuests(touched_[i], 0);
  }
}

uint32_t SharedLinks::NewCrossings(uint32_t hops) {
  if (hops >= free_crossings_.size()) free_crossings_.resize(hops + 1);
  std::vector<uint32_t>& free = free_crossings_[hops];
  if (free.empty()) {
    crossings_.resize(crossings_.size() + hops);
    return static_cast<uint32_t>(crossings_.size()) - hops;
  }
  const uint32_t first = free.back();
  free.pop_back();
  return first;
}

void SharedLinks::Insert(uint32_t crossing, List list) {
  Crossing& here = crossings_[crossing];
  LinkState& link = links_[here.link];
  uint32_t& first = link.first[list];
  here.list = list;
  here.previous = kNone;
  here.next = first;
  if (first != kNone) crossings_[first].previous = crossing;
  first = crossing;
  if (list == kGuest) {
    link.left.Take(flows_[here.flow].rate);
  } else {
    ++link.sharers;
  }
}

void SharedLinks::Erase(uint32_t crossing) {
  const Crossing& here = crossings_[crossing];
  LinkState& link = links_[here.link];
  (here.previous == kNone ? link.first[here.list] : crossings_[here.previous].next) = here.next;
  if (here.next != kNone) crossings_[here.next].previous = here.previous;
  if (here.list == kGuest) {
    link.left.GiveBack(flows_[here.flow].rate);
  } else {
    --link.sharers;
  }
}

void SharedLinks::Touch(LinkId id) {
  LinkState& link = links_[id];
  if (link.touched) return;
  link.touched = true;
  link.decided = false;
  touched_.push_back(id);
}

double SharedLinks::Level(const LinkState& link) {
  return std::max(0.0, link.left.left()) / link.sharers;
}

void SharedLinks::Queue(LinkId id) {
  LinkState& link = links_[id];
  const double level = Level(link);
  if (level >= link.queued) return;
  link.queued = level;
  Push({level, id, false});
}

void SharedLinks::Push(const Candidate& candidate) {
  candidates_.push_back(candidate);
  std::ranges::push_heap(candidates_, Later());
}

}  // namespace grapevine
