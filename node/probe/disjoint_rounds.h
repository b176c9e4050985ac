// DisjointRounds finds which edges can be measured at once: edges that share no host do not take
// each other's bandwidth.
//
// A pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_
#define GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace grapevine {

// An edge from one host to another, or to itself.
using HostEdge = std::pair<size_t, size_t>;

// Returns rounds of positions in `edges`. Each position is in one round. No round has a host twice,
// except for the two directions between two hosts, which are used at once in a run, too.
std::vector<std::vector<size_t>> DisjointRounds(std::span<const HostEdge> edges);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_DISJOINT_ROUNDS_H_
