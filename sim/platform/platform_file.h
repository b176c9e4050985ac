// file:PATH: a user's own network. The file is hostile until proven a network.
//
// The file's extension decides how it is read:
//   .graphml, .xml   GraphML, what NetworkX, Gephi or yEd write
//   anything else    a textproto (platform.proto)
//
// In GraphML a node's id is its name, unless a node attribute "name" gives another; the attribute
// "kind" is "host" (the default) or "switch". Edge attributes: "bandwidth" ("10Gbit"), "latency"
// ("5us") and "duplex" ("full", the default of undirected edges, or "half"). A directed edge is a
// one-way link.
//
// Boost.PropertyTree reads the XML, as in Boost.Graph, whose own GraphML reader keeps no ids, and
// makes a node of every misspelt end of an edge.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "sim/platform/graph_platform.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Errors are kInput and begin with FILE:LINE.
absl::StatusOr<PlatformDescription> ReadPlatformTextproto(const std::string& path);

// Errors are kInput, name the file and, where the XML is broken, the line, else
// the element: "net.graphml: edge 3 (a - b): ...", counted from 1.
absl::StatusOr<PlatformDescription> ReadPlatformGraphml(const std::string& path);

// Errors about the content are kInput and name the file, the line or element, and
// what to do.
absl::StatusOr<std::shared_ptr<const Platform>> LoadPlatformFile(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_FILE_H_
