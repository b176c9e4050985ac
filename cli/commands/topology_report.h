// What `grapevine topology` prints: for people, and as JSON.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_CLI_COMMANDS_TOPOLOGY_REPORT_H_
#define GRAPEVINE_CLI_COMMANDS_TOPOLOGY_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "topology/files/graph_formats.h"
#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"

namespace grapevine {

// One topology at length.
std::string TopologyText(const TopologySummary& summary);

// Several beside each other, one line each.
std::string TopologyTable(const std::vector<TopologySummary>& summaries);

// One JSON object (docs/topologies.md has its fields), the edges one by one.
absl::Status WriteTopologyJson(const TopologySummary& summary, const Topology& topology,
                               const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TOPOLOGY_REPORT_H_
