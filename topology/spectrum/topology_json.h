// The properties of a graph as a JSON object, for programs.
//
// Thread-safety: pure functions, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_TOPOLOGY_JSON_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_TOPOLOGY_JSON_H_

#include "absl/status/status.h"
#include "topology/files/graph_formats.h"
#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"

namespace grapevine {

// Returns how the eigenvalues were found: "closed form", "dense" or "lanczos".
const char* MethodName(Spectrum::Method method);

// Writes one object without a line break (docs/topologies.md describes its fields), with the edges
// of the summary's round one by one. Errors are those of `sink`.
absl::Status WriteTopologyJson(const TopologySummary& summary, const Topology& topology,
                               const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_TOPOLOGY_JSON_H_
