// A node's port for whoever watches it (--metrics-port): /metrics, for Prometheus; /healthz,
// whether it lives; /readyz, whether it is in the run. As the gRPC health services "" and
// "grapevine" say.
//
// It asks nobody who they are, and tells no more than these: docs/security.md.
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

// What is there at a path; 404 at all but these three.
HttpAnswer TelemetryAt(std::string_view path, const NodeDescription& node,
                       const NodeFigures& figures);

// Serves these at `address`, until it is destroyed; `advertised` is the host at which others reach
// this node, if it says so (OwnHosts). `figures` is called on a thread of its own, for each
// request. kRendezvous names the address, why it is not to be had, and the flag.
absl::StatusOr<std::unique_ptr<HttpServer>> OpenTelemetryPort(const HostAddress& address,
                                                              const std::string& advertised,
                                                              NodeDescription node,
                                                              std::function<NodeFigures()> figures);

// Whether it could be opened now; errors as OpenTelemetryPort's.
absl::Status CheckTelemetryPort(const HostAddress& address);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_TELEMETRY_PORT_H_
