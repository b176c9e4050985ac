// Makes a physical network from its spec: a family with options ("racks:hosts=16"), a preset, whose
// own options are replaced by given ones, or a user's own network ("file:PATH", or only a name that
// ends in .textproto or .graphml). Families and presets register themselves (platform_kind.h); link
// :registry for those of this folder.
//
// A file is hostile until proven a network.
//
// Thread-safety: pure functions, but for reading files.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"
#include "sim/platform/graph_platform.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct PlatformRequest {
  std::string network = "switch";
  // Options given beside the spec, with the meaning of bandwidth=, latency= and duplex=half. They
  // replace those of a preset. They are refused if the spec has the same option, and for files,
  // which have their own.
  std::optional<int64_t> bandwidth;  // bits a second
  std::optional<Nanoseconds> latency;
  bool half_duplex = false;
  // The fewest hosts that are needed. A family makes itself large enough.
  Rank hosts = 1;
};

// Makes the network. Errors are kUsage and quote the spec for an impossible network, and kInput for
// a broken file.
absl::StatusOr<std::shared_ptr<const Platform>> MakePlatform(const PlatformRequest& request);

// Reads a textproto (platform.proto). Errors are kInput and begin with FILE:LINE.
absl::StatusOr<PlatformDescription> ReadPlatformTextproto(const std::string& path);

// Reads GraphML. A node's id is its name, unless a node attribute "name" gives another; the
// attribute "kind" is "host" (the default) or "switch". Edge attributes: "bandwidth" ("10Gbit"),
// "latency" ("5us") and "duplex" ("full", the default of undirected edges, or "half"). A directed
// edge is a one-way link.
//
// Errors are kInput. They name the file and, where the XML is broken, the line, else the element:
// "net.graphml: edge 3 (a - b): ...", counted from 1.
absl::StatusOr<PlatformDescription> ReadPlatformGraphml(const std::string& path);

// Reads the network of "file:PATH". The file's extension decides how it is read:
//
//   .graphml, .xml   GraphML, what NetworkX, Gephi or yEd write
//   anything else    a textproto (platform.proto)
//
// Errors about the content are kInput and name the file, the line or element, and what to do.
absl::StatusOr<std::shared_ptr<const Platform>> LoadPlatformFile(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_REQUEST_H_
