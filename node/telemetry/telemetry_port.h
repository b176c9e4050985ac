// A node's port for monitoring (--metrics-port). It serves /metrics, for Prometheus; /healthz,
// whether the node lives; and /readyz, whether the node is in the run. The gRPC health services ""
// and "grapevine" say the same as the last two.
//
// The port does not authenticate its clients, and serves nothing but these paths: docs/security.md.
#ifndef GRAPEVINE_NODE_TELEMETRY_TELEMETRY_PORT_H_
#define GRAPEVINE_NODE_TELEMETRY_TELEMETRY_PORT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "node/telemetry/http_server.h"
#include "node/telemetry/node_telemetry.h"

namespace grapevine {

// Returns the answer at a path; 404 at all paths but /metrics, /healthz and /readyz.
HttpAnswer TelemetryAt(std::string_view path, const NodeDescription& node,
                       const NodeFigures& figures);

// Serves TelemetryAt at `address`, until the server is destroyed. `advertised` is the host at which
// others reach this node, if the node advertises one (OwnHosts). `figures` is called on a thread of
// its own, for each request. kRendezvous names the address, why it cannot be had, and the flag.
absl::StatusOr<std::unique_ptr<HttpServer>> OpenTelemetryPort(const HostAddress& address,
                                                              const std::string& advertised,
                                                              NodeDescription node,
                                                              std::function<NodeFigures()> figures);

// Returns OK if the port could be opened now, else the error that OpenTelemetryPort returns.
absl::Status CheckTelemetryPort(const HostAddress& address);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_TELEMETRY_PORT_H_
