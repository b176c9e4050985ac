// A user's own network as GraphML: what NetworkX, Gephi or yEd write.
//
// A node's id is its name, unless a node attribute "name" gives another; the
// attribute "kind" is "host" (the default) or "switch". Edge attributes:
// "bandwidth" ("10Gbit"), "latency" ("5us") and "duplex" ("full", the default of
// undirected edges, or "half"). A directed edge is a link one way.
//
// Boost.PropertyTree reads the XML, as in Boost.Graph; its GraphML reader itself
// keeps no ids, and makes a node of every misspelt end of an edge.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_GRAPHML_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_GRAPHML_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/platform/platform_description.h"

namespace grapevine {

// Errors are kInput, name the file and, where the XML is broken, the line, else
// the element: "net.graphml: edge 3 (a - b): ...", counted from 1.
absl::StatusOr<PlatformDescription> ReadPlatformGraphml(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_GRAPHML_H_
