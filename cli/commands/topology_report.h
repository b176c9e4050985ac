// The output of `grapevine topology`: for people, and as JSON.
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

// One topology in detail.
std::string TopologyText(const TopologySummary& summary);

// Several side by side, one line each.
std::string TopologyTable(const std::vector<TopologySummary>& summaries);

// One JSON object (docs/topologies.md has its fields), the edges one by one.
absl::Status WriteTopologyJson(const TopologySummary& summary, const Topology& topology,
                               const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TOPOLOGY_REPORT_H_
