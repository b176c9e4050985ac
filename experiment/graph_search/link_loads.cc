#include "experiment/graph_search/link_loads.h"

#include <algorithm>
#include <memory>

#include "base/units.h"
#include "sim/platform/platform.h"

namespace grapevine {

LinkLoads::LinkLoads(const SimulatedCluster& cluster, int64_t bytes)
    : nodes_(static_cast<Rank>(cluster.network().hosts().size())), ways_(nodes_ * nodes_) {
  const Platform& platform = cluster.network().platform();
  const std::vector<HostId>& hosts = cluster.network().hosts();
  const auto seconds = [bytes](double rate) {
    return SecondsOfNanoseconds(static_cast<double>(bytes) / rate);
  };
  for (const Link& link : platform.links()) seconds_.push_back(seconds(link.capacity));
  const std::unique_ptr<Router> router = platform.MakeRouter();
  for (Rank from = 0; from < nodes_; ++from) {
    for (Rank to = 0; to < nodes_; ++to) {
      Way& way = ways_[from * nodes_ + to];
      const Route route = router->Find(hosts[from], hosts[to]);
      way.links.assign(route.links.begin(), route.links.end());
      way.latency = SecondsOfNanoseconds(static_cast<double>(route.latency));
      // On one host each message has the loopback for itself.
      if (way.links.empty()) way.latency += seconds(platform.loopback());
    }
  }
}

double LinkLoads::Seconds(Rank from, Rank to) const {
  const Way& way = Between(from, to);
  double slowest = 0;
  for (const int link : way.links) slowest = std::max(slowest, seconds_[link]);
  return slowest + way.latency;
}

double LinkLoads::Seconds(std::span<const Edge> messages) const {
  std::vector<double> loads(seconds_.size(), 0);
  double fullest = 0, latency = 0;
  for (const auto& [from, to] : messages) {
    const Way& way = Between(from, to);
    latency = std::max(latency, way.latency);
    for (const int link : way.links) {
      loads[link] += seconds_[link];
      fullest = std::max(fullest, loads[link]);
    }
  }
  return fullest + latency;
}

double LinkLoads::Seconds(const WeightedRound& round) const { return Seconds(MessagesOf(round)); }

double LinkLoads::Seconds(std::span<const WeightedRound> rounds) const {
  double seconds = 0;
  for (const WeightedRound& round : rounds) seconds += Seconds(round);
  return seconds;
}

std::vector<Edge> MessagesOf(const WeightedRound& round) {
  std::vector<Edge> messages;
  messages.reserve(2 * round.size());
  for (const auto& [a, b, weight] : round) {
    messages.push_back({a, b});
    messages.push_back({b, a});
  }
  return messages;
}

}  // namespace grapevine
