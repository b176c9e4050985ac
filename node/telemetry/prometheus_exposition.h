// Exposition writes a node's figures as Prometheus reads them; docs/metrics.md has the table of
// names.
//
// Nothing else uses prometheus-cpp. A pure function.
#ifndef GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_
#define GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_

#include <string>

#include "node/telemetry/node_telemetry.h"

namespace grapevine {

inline constexpr char kExpositionType[] = "text/plain; version=0.0.4; charset=utf-8";

// Returns the figures in Prometheus' text format. Labels are bounded: the node's rank, its
// neighbours' ranks, the run's settings. A value that was not measured has no sample.
std::string Exposition(const NodeDescription& node, const NodeFigures& figures);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_PROMETHEUS_EXPOSITION_H_
