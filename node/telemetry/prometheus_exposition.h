// A node's figures as Prometheus reads them: docs/metrics.md has the table of names.
//
// Only this uses prometheus-cpp. Pure.
#ifndef GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_
#define GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_

#include <string>

#include "node/telemetry/node_telemetry.h"

namespace grapevine {

inline constexpr char kExpositionType[] = "text/plain; version=0.0.4; charset=utf-8";

// In the text format. Labels are bounded: the node's rank, its neighbours', the run's settings.
// What was not measured has no sample.
std::string Exposition(const NodeDescription& node, const NodeFigures& figures);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_
