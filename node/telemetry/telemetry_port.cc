#include "node/telemetry/telemetry_port.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/server/listening_sockets.h"
#include "node/telemetry/own_hosts.h"
#include "node/telemetry/prometheus_exposition.h"

namespace grapevine {
namespace {

constexpr char kFlag[] = "--metrics-port";

absl::StatusOr<ListeningSockets> ListenForWatchers(const HostAddress& address) {
  return ListenOn(address, HttpServerOptions().patience,
                  absl::StrCat("choose another one with ", kFlag));
}

}  // namespace

HttpAnswer TelemetryAt(std::string_view path, const NodeDescription& node,
                       const NodeFigures& figures) {
  if (path == "/metrics") return {.type = kExpositionType, .body = Exposition(node, figures)};
  if (path == "/healthz") return {.body = "alive\n"};
  if (path != "/readyz") return {.status = 404, .body = "/metrics, /healthz, /readyz\n"};
  if (!figures.ready) return {.status = 503, .body = "not in the run yet\n"};
  return {.body = "in the run\n"};
}

absl::StatusOr<std::unique_ptr<HttpServer>> OpenTelemetryPort(
    const HostAddress& address, const std::string& advertised, NodeDescription node,
    std::function<NodeFigures()> figures) {
  ASSIGN_OR_RETURN(ListeningSockets sockets, ListenForWatchers(address));
  return std::make_unique<HttpServer>(
      std::move(sockets), HttpServerOptions(),
      OwnHosts{.listens = address.host, .advertised = advertised, .flag = kFlag},
      [node = std::move(node), figures = std::move(figures)](std::string_view path) {
        return TelemetryAt(path, node, figures());
      });
}

absl::Status CheckTelemetryPort(const HostAddress& address) {
  return ListenForWatchers(address).status();
}

}  // namespace grapevine
