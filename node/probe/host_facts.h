// What a host says of itself before a run: its processor and instruction sets, what its processes
// may use, its addresses.
//
// The functions of a text are pure; ReadHostFacts reads the system. Safe from any thread.
#ifndef GRAPEVINE_NODE_PROBE_HOST_FACTS_H_
#define GRAPEVINE_NODE_PROBE_HOST_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/probe/probe.pb.h"

namespace grapevine {

// The instruction sets in /proc/cpuinfo among those that numeric libraries choose by, in a fixed
// order: two hosts with the same ones run the same code.
std::vector<std::string> InstructionSetsIn(std::string_view cpuinfo);

// Bytes, of /proc/meminfo: what new processes can have.
std::optional<int64_t> AvailableMemoryIn(std::string_view meminfo);

// All but lookups and certificates, which take time or settings.
probe::Facts ReadHostFacts();

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_HOST_FACTS_H_
