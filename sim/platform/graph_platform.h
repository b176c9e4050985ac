// A network of any shape, whose routes are searched for.
//
// A route takes the fewest nanoseconds, then the fewest links; among equals a hash
// of sender and receiver chooses at every step, as switches do (ECMP). Hosts pass
// on what is for others. Routes are found when they are first asked for, by
// Dijkstra's algorithm from the sender (Boost.Graph), and remembered.
#ifndef GRAPEVINE_SIM_PLATFORM_GRAPH_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_GRAPH_PLATFORM_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sim/platform/platform.h"
#include "sim/platform/platform_description.h"

namespace grapevine {

// The graph behind a GraphPlatform; Boost's is kept out of this header.
class RoutingGraph;

// Immutable.
class GraphPlatform final : public Platform {
 public:
  GraphPlatform(std::string name, PlatformDescription description);
  ~GraphPlatform() override;

  std::string name() const override { return name_; }
  HostId hosts() const override { return static_cast<HostId>(hosts_.size()); }
  std::span<const Link> links() const override { return links_; }
  double loopback() const override { return description_.loopback; }
  std::string HostName(HostId host) const override;
  std::optional<HostId> FindHost(std::string_view name) const override;
  std::string LinkName(LinkId link) const override;
  std::unique_ptr<Router> MakeRouter() const override;
  absl::Status CheckConnected(std::span<const HostId> hosts) const override;

 private:
  const std::string name_;
  const PlatformDescription description_;
  std::vector<int32_t> hosts_;  // node of each host
  absl::flat_hash_map<std::string, HostId> numbers_;
  std::vector<Link> links_;
  std::vector<int32_t> cable_of_link_;
  std::unique_ptr<const RoutingGraph> graph_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_GRAPH_PLATFORM_H_
