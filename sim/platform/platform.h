// A physical network: hosts, directed links between them, and the routes that messages take.
//
// Families of networks (platform_kind.h) compute their routes; a user's own
// (graph_platform.h) searches for them. platform_request.h makes all of them.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// The number of a link of a network, counted from 0.
using LinkId = uint32_t;

struct Link {
  double capacity = 0;  // goodput, bytes per nanosecond
  Nanoseconds latency = 0;
};

// The number of a host, counted from 0.
using HostId = int32_t;

struct Route {
  // Directed links from the sender to the receiver; no link twice. Owned by the router, and valid
  // until the next Find.
  std::span<const LinkId> links;
  Nanoseconds latency = 0;  // sum over the links
};

// Thread-compatible: it may cache routes.
class Router {
 public:
  virtual ~Router() = default;
  // Returns the route between two hosts, always the same one for the same hosts. From a host to
  // itself it has no links.
  virtual Route Find(HostId from, HostId to) = 0;
};

// All that matters of a network whose only bottlenecks are the hosts' interfaces.
struct HostInterfaces {
  double bandwidth = 0;     // bandwidth of each direction, bytes per nanosecond
  Nanoseconds latency = 0;  // one way, from host to host
  bool half_duplex = false;
};

// Immutable; safe from any thread.
class Platform {
 public:
  virtual ~Platform() = default;

  // Returns the canonical spec, with every default resolved.
  virtual std::string name() const = 0;
  virtual HostId hosts() const = 0;
  virtual std::span<const Link> links() const = 0;
  // Returns the rate of each message between ranks on one host, in bytes per nanosecond.
  virtual double loopback() const = 0;

  virtual std::string HostName(HostId host) const = 0;
  virtual std::optional<HostId> FindHost(std::string_view name) const = 0;
  // Returns the name of a link, "host3->rack0". Both directions of a half-duplex link are one link,
  // "host3--rack0".
  virtual std::string LinkName(LinkId link) const = 0;

  // The platform must outlive the router.
  virtual std::unique_ptr<Router> MakeRouter() const = 0;
  // Returns an error if `hosts` are not all connected. It names two hosts between which there is no
  // route.
  virtual absl::Status CheckConnected(std::span<const HostId> hosts) const = 0;
  // Returns the interfaces of the hosts; only where the network is one switch.
  virtual std::optional<HostInterfaces> interfaces() const { return std::nullopt; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_H_
