// Asks, at several addresses at once, whether a coordinator listens there.
#ifndef GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PROBE_H_
#define GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PROBE_H_

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "node/identity/host_address.h"

namespace grapevine {

struct ProbeQuestion {
  std::span<const HostAddress> addresses;
  // By which health service a coordinator is known: CoordinatorService or ServiceOfRun.
  std::string service;
  std::string certified_name;  // FoundCoordinator's
};

struct ProbeAnswer {
  std::optional<HostAddress> coordinator;  // the first that answered so
  std::string why_not;                     // "10.0.0.2:29500: connection refused, ..."
};

// Returns by `deadline` or soon after.
using CoordinatorProbe = std::function<ProbeAnswer(const ProbeQuestion& question,
                                                   std::chrono::steady_clock::time_point deadline)>;

// Health services (grpc.health.v1) that rank 0 offers: that of any coordinator, and that of its
// run, which only those know who know the run's id.
inline constexpr char kCoordinatorService[] = "grapevine.control.Control";
std::string ServiceOfRun(const std::string& run_id);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PROBE_H_
