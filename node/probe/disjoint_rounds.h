// Which edges can be measured at once: those that share no host do not take each other's bandwidth.
//
// A pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_
#define GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace grapevine {

// From a host to another one, or to itself.
using HostEdge = std::pair<size_t, size_t>;

// Positions in `edges`, each in one round; in no round a host twice, but for the two directions
// between two hosts, which are used at once in a run, too.
std::vector<std::vector<size_t>> DisjointRounds(std::span<const HostEdge> edges);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_
