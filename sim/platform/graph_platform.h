// A network of any shape, as a user's file describes it, whose routes are searched for.
//
// A route takes the fewest nanoseconds, then the fewest links; among equals a hash of sender and
// receiver chooses at every step, as switches do (ECMP). Hosts forward messages for others. Routes
// are found when they are first needed, by Dijkstra's algorithm from the sender (Boost.Graph), and
// cached.
#ifndef GRAPEVINE_SIM_PLATFORM_GRAPH_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_GRAPH_PLATFORM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

enum class Duplex {
  kFull,    // each direction has the bandwidth
  kHalf,    // both directions share it
  kOneWay,  // from a to b only
};

// The contents of a user's file, every part checked.
struct PlatformDescription {
  struct Node {
    std::string name;
    bool is_host = true;
  };
  struct Cable {
    int32_t a = 0;  // index into `nodes`
    int32_t b = 0;
    double bandwidth = 0;  // bytes per nanosecond
    Nanoseconds latency = 0;
    Duplex duplex = Duplex::kFull;
  };
  std::vector<Node> nodes;  // hosts appear in the order of their numbers
  std::vector<Cable> cables;
  double loopback = 10;
};

// A cable in the words of a file.
struct CableText {
  std::string a;
  std::string b;
  std::string bandwidth;
  std::string latency;
  Duplex duplex = Duplex::kFull;
};

// Builds a description from its parts, in any order except that nodes come before their cables.
// Errors say what is wrong and what to do; the reader of the file adds the position.
// Thread-compatible.
class PlatformBuilder {
 public:
  absl::Status AddNode(const std::string& name, bool is_host);
  absl::Status AddCable(const CableText& text);
  absl::Status SetLoopback(const std::string& bandwidth);

  const PlatformDescription& description() const { return description_; }

 private:
  absl::Status FindNode(const std::string& name, int32_t* node) const;

  PlatformDescription description_;
  absl::flat_hash_map<std::string, int32_t> numbers_;
};

// The graph behind a GraphPlatform. It keeps Boost.Graph out of this header.
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
