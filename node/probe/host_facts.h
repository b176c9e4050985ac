// The facts that a host reports of itself before a run: its processor and instruction sets, what
// its processes may use, its addresses.
//
// The functions that take a text are pure; ReadHostFacts reads the system. Safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_HOST_FACTS_H_
#define GRAPEVINE_NODE_PROBE_HOST_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/probe/probe.pb.h"

namespace grapevine {

// Returns those instruction sets in /proc/cpuinfo by which numeric libraries choose their code, in
// a fixed order: two hosts with the same instruction sets run the same code.
std::vector<std::string> InstructionSetsIn(std::string_view cpuinfo);

// Returns the bytes that new processes can have, according to /proc/meminfo.
std::optional<int64_t> AvailableMemoryIn(std::string_view meminfo);

// Returns all facts but lookups and certificates, which take time or settings.
probe::Facts ReadHostFacts();

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_HOST_FACTS_H_
