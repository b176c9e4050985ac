// Writes a network that was measured as a file for the simulator (sim/platform/platform.proto).
//
// A host's interface carries all that the host sends, or receives, at once. An edge carries what it
// carries alone, and takes its latency. So a message takes three links: out of its host, along the
// edge, into the other host.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_MEASURED_NETWORK_MEASURED_NETWORK_H_
#define GRAPEVINE_EXPERIMENT_MEASURED_NETWORK_MEASURED_NETWORK_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// A connection from one host to another, or to itself. Rates are goodput, bits a second.
struct MeasuredEdge {
  size_t from = 0, to = 0;
  double alone = 0;                    // while nothing else is sent
  std::optional<double> together;      // while all edges are in use
  std::chrono::nanoseconds latency{};  // one way
};

struct MeasuredNetwork {
  std::vector<std::string> hosts;
  std::vector<MeasuredEdge> edges;
};

// Returns the text of the file, which begins with `comment`, a line. Returns kRendezvous if the
// edges do not connect two hosts in both directions.
absl::StatusOr<std::string> NetworkFileText(const MeasuredNetwork& network,
                                            const std::string& comment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_MEASURED_NETWORK_MEASURED_NETWORK_H_
