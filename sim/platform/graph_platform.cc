#include "sim/platform/graph_platform.h"

#include <glog/logging.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {
namespace {

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// Reads the value of `field`, which is required.
template <typename T>
absl::Status Read(std::string_view field, const std::string& text, std::string_view example,
                  absl::StatusOr<T> (*parse)(std::string_view), T* value) {
  if (text.empty()) {
    return Wrong(absl::StrCat("no ", std::string(field), "; give one, for example \"",
                              std::string(example), "\""));
  }
  const absl::StatusOr<T> parsed = parse(text);
  if (!parsed.ok()) {
    return Wrong(absl::StrCat(std::string(field), ": ", std::string(parsed.status().message())));
  }
  *value = *parsed;
  return absl::OkStatus();
}

}  // namespace

absl::Status PlatformBuilder::AddNode(const std::string& name, bool is_host) {
  if (name.empty()) return Wrong("no name; give every host and switch one of its own");
  if (!numbers_.emplace(name, static_cast<int32_t>(description_.nodes.size())).second) {
    return Wrong(absl::StrCat("the name \"", name,
                              "\" is taken by an earlier host or switch; give it another"));
  }
  description_.nodes.push_back({.name = name, .is_host = is_host});
  return absl::OkStatus();
}

absl::Status PlatformBuilder::AddCable(const CableText& text) {
  PlatformDescription::Cable cable{.duplex = text.duplex};
  absl::Status status = FindNode(text.a, &cable.a);
  status.Update(FindNode(text.b, &cable.b));
  if (status.ok() && cable.a == cable.b) {
    status = Wrong(absl::StrCat("joins \"", text.a, "\" to itself; remove it"));
  }
  status.Update(Read("bandwidth", text.bandwidth, "10Gbit", ParseLinkRate, &cable.bandwidth));
  status.Update(Read("latency", text.latency, "5us", ParseLinkLatency, &cable.latency));
  if (status.ok()) description_.cables.push_back(cable);
  return status;
}

absl::Status PlatformBuilder::SetLoopback(const std::string& bandwidth) {
  return Read("loopback", bandwidth, "80Gbit", ParseLinkRate, &description_.loopback);
}

absl::Status PlatformBuilder::FindNode(const std::string& name, int32_t* node) const {
  if (name.empty()) return Wrong("one of its two ends has no name");
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    return Wrong(
        absl::StrCat("no host or switch is named \"", name, "\"; add it or correct the name"));
  }
  *node = found->second;
  return absl::OkStatus();
}

// What an edge of the searched graph stands for.
struct RoutingArc {
  LinkId link;
};

// The length of a route. Routes are preferred in the order of its operator<=>.
struct RoutingDistance {
  Nanoseconds latency = 0;
  int32_t hops = 0;

  friend auto operator<=>(const RoutingDistance&, const RoutingDistance&) = default;
  friend RoutingDistance operator+(const RoutingDistance& a, const RoutingDistance& b) {
    return {a.latency + b.latency, a.hops + b.hops};
  }
};

namespace {

using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                         boost::no_property, RoutingArc>;
using Vertex = BoostGraph::vertex_descriptor;
using Distance = RoutingDistance;
constexpr Distance kUnreached = {std::numeric_limits<Nanoseconds>::max(), 0};

}  // namespace

// Immutable. Hosts with a single cable (most of them, in most networks) are not searched: their
// routes begin and end where the cable leads.
class RoutingGraph {
 public:
  // How a node joins the searched graph: as itself at distance 0, or through the other end of its
  // only cable.
  struct Access {
    Vertex vertex;
    bool by_cable = false;
    LinkId out = 0;
    LinkId in = 0;
  };

  // directions[i] has the links forth and back of cable i. They are equal unless it is full duplex.
  RoutingGraph(const PlatformDescription& description,
               std::vector<std::pair<LinkId, LinkId>> directions, std::span<const Link> links)
      : graph_(description.nodes.size()), access_(description.nodes.size()), links_(links) {
    std::vector<int> degree(description.nodes.size(), 0);
    for (const auto& cable : description.cables) {
      // A one-way link alone is no access.
      const int ends = cable.duplex == Duplex::kOneWay ? 2 : 1;
      degree[cable.a] += ends;
      degree[cable.b] += ends;
    }
    for (size_t node = 0; node < access_.size(); ++node) access_[node].vertex = node;
    for (size_t i = 0; i < description.cables.size(); ++i) {
      const auto& cable = description.cables[i];
      const auto [forth, back] = directions[i];
      if (degree[cable.a] == 1 && degree[cable.b] > 1) {
        access_[cable.a] = {Vertex(cable.b), true, forth, back};
      } else if (degree[cable.b] == 1 && degree[cable.a] > 1) {
        access_[cable.b] = {Vertex(cable.a), true, back, forth};
      } else {
        add_edge(cable.a, cable.b, RoutingArc{forth}, graph_);
        if (cable.duplex != Duplex::kOneWay) add_edge(cable.b, cable.a, RoutingArc{back}, graph_);
      }
    }
    components_.resize(num_vertices(graph_));
    boost::strong_components(graph_, boost::make_iterator_property_map(
                                         components_.begin(), get(boost::vertex_index, graph_)));
  }

  const Access& access(int32_t node) const { return access_[node]; }
  // Nodes of one component reach each other.
  int component(int32_t node) const { return components_[access_[node].vertex]; }
  size_t vertices() const { return num_vertices(graph_); }

  // Finds the distances from `source` to every vertex.
  void Search(Vertex source, std::vector<Distance>* distances) const {
    distances->resize(vertices());
    const auto weights = boost::make_function_property_map<BoostGraph::edge_descriptor>(
        [this](const BoostGraph::edge_descriptor& edge) { return Weight(edge); });
    boost::dijkstra_shortest_paths(graph_, source,
                                   boost::weight_map(weights)
                                       .distance_map(boost::make_iterator_property_map(
                                           distances->begin(), get(boost::vertex_index, graph_)))
                                       .distance_compare(std::less<Distance>())
                                       .distance_combine(std::plus<Distance>())
                                       .distance_inf(kUnreached)
                                       .distance_zero(Distance()));
  }

  // Adds the links of a shortest path that ends at `to`, backwards. At every step `hash` chooses
  // among the links that are equally good.
  void AddBackwards(const std::vector<Distance>& distances, Vertex to, uint64_t hash,
                    std::vector<LinkId>* links) const {
    std::vector<BoostGraph::edge_descriptor> last;
    while (distances[to].hops > 0) {
      last.clear();
      for (auto [edge, end] = in_edges(to, graph_); edge != end; ++edge) {
        const Distance& before = distances[source(*edge, graph_)];
        if (before != kUnreached && before + Weight(*edge) == distances[to]) last.push_back(*edge);
      }
      const auto chosen = last[Mix(hash, Purpose::kRouting, to, 0, 0) % last.size()];
      links->push_back(graph_[chosen].link);
      to = source(chosen, graph_);
    }
  }

 private:
  Distance Weight(const BoostGraph::edge_descriptor& edge) const {
    return {links_[graph_[edge].link].latency, 1};
  }

  BoostGraph graph_;
  std::vector<Access> access_;
  const std::span<const Link> links_;
  std::vector<int> components_;
};

namespace {

// Caches routes, and the searches from the most recent senders.
class GraphRouter final : public Router {
 public:
  GraphRouter(const RoutingGraph* graph, std::span<const int32_t> nodes,
              std::span<const Link> links)
      : graph_(graph),
        nodes_(nodes),
        links_(links),
        searches_(std::max<size_t>(1, kMaxDistances / graph->vertices())) {}

  Route Find(HostId from, HostId to) override {
    if (from == to) return {};
    const uint64_t pair = (static_cast<uint64_t>(from) << 32) | static_cast<uint32_t>(to);
    auto known = known_.find(pair);
    if (known == known_.end()) {
      if (known_.size() >= kMaxRoutes || hops_.size() >= kMaxHops) {
        known_.clear();
        hops_.clear();
      }
      known = known_.emplace(pair, Search(from, to, pair)).first;
    }
    const Known& route = known->second;
    return {.links = std::span(hops_).subspan(route.first, route.count), .latency = route.latency};
  }

 private:
  // The most that is cached: a network of thousands of hosts that all talk to each other is
  // searched again now and then rather than filling the memory.
  static constexpr size_t kMaxRoutes = size_t{1} << 21;
  static constexpr size_t kMaxHops = size_t{1} << 25;
  static constexpr size_t kMaxDistances = size_t{1} << 22;

  struct Known {
    size_t first = 0;  // index into hops_
    size_t count = 0;
    Nanoseconds latency = 0;
  };
  struct SearchFrom {
    Vertex source;
    std::vector<Distance> distances;
  };

  Known Search(HostId from, HostId to, uint64_t hash) {
    const RoutingGraph::Access& begin = graph_->access(nodes_[from]);
    const RoutingGraph::Access& end = graph_->access(nodes_[to]);
    const std::vector<Distance>& distances = DistancesFrom(begin.vertex);
    CHECK(distances[end.vertex] != kUnreached) << "no path from host " << from << " to " << to;
    Known route{.first = hops_.size()};
    if (end.by_cable) hops_.push_back(end.in);
    graph_->AddBackwards(distances, end.vertex, hash, &hops_);
    if (begin.by_cable) hops_.push_back(begin.out);
    std::reverse(hops_.begin() + static_cast<ptrdiff_t>(route.first), hops_.end());
    route.count = hops_.size() - route.first;
    for (size_t i = route.first; i < hops_.size(); ++i) route.latency += links_[hops_[i]].latency;
    return route;
  }

  const std::vector<Distance>& DistancesFrom(Vertex source) {
    const auto known = search_from_.find(source);
    if (known != search_from_.end()) return searches_[known->second].distances;
    // Evicts the oldest search.
    SearchFrom& search = searches_[next_search_];
    if (!search.distances.empty()) search_from_.erase(search.source);
    search_from_[source] = next_search_;
    next_search_ = (next_search_ + 1) % searches_.size();
    search.source = source;
    graph_->Search(source, &search.distances);
    return search.distances;
  }

  const RoutingGraph* const graph_;
  const std::span<const int32_t> nodes_;
  const std::span<const Link> links_;

  absl::flat_hash_map<uint64_t, Known> known_;
  std::vector<LinkId> hops_;
  std::vector<SearchFrom> searches_;
  absl::flat_hash_map<Vertex, size_t> search_from_;
  size_t next_search_ = 0;
};

}  // namespace

GraphPlatform::GraphPlatform(std::string name, PlatformDescription description)
    : name_(std::move(name)), description_(std::move(description)) {
  for (size_t node = 0; node < description_.nodes.size(); ++node) {
    if (!description_.nodes[node].is_host) continue;
    numbers_[description_.nodes[node].name] = hosts();
    hosts_.push_back(static_cast<int32_t>(node));
  }
  std::vector<std::pair<LinkId, LinkId>> directions;
  for (size_t cable = 0; cable < description_.cables.size(); ++cable) {
    const PlatformDescription::Cable& text = description_.cables[cable];
    const auto forth = static_cast<LinkId>(links_.size());
    const bool two = text.duplex == Duplex::kFull;
    directions.emplace_back(forth, two ? forth + 1 : forth);
    links_.resize(links_.size() + (two ? 2 : 1), {text.bandwidth, text.latency});
    cable_of_link_.resize(links_.size(), static_cast<int32_t>(cable));
  }
  graph_ = std::make_unique<RoutingGraph>(description_, std::move(directions), links_);
}

GraphPlatform::~GraphPlatform() = default;

std::string GraphPlatform::HostName(HostId host) const {
  return description_.nodes[hosts_[host]].name;
}

std::optional<HostId> GraphPlatform::FindHost(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::string GraphPlatform::LinkName(LinkId link) const {
  const PlatformDescription::Cable& cable = description_.cables[cable_of_link_[link]];
  const bool back = link > 0 && cable_of_link_[link - 1] == cable_of_link_[link];
  const std::string& a = description_.nodes[back ? cable.b : cable.a].name;
  const std::string& b = description_.nodes[back ? cable.a : cable.b].name;
  return absl::StrCat(a, cable.duplex == Duplex::kHalf ? "--" : "->", b);
}

std::unique_ptr<Router> GraphPlatform::MakeRouter() const {
  return std::make_unique<GraphRouter>(graph_.get(), hosts_, links_);
}

absl::Status GraphPlatform::CheckConnected(std::span<const HostId> hosts) const {
  for (const HostId host : hosts) {
    if (graph_->component(hosts_[host]) == graph_->component(hosts_[hosts[0]])) continue;
    return InputError(name_, absl::StrCat("no path from host \"", HostName(hosts[0]),
                                          "\" to host \"", HostName(host),
                                          "\" and back; add a link or place the ranks elsewhere"));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
