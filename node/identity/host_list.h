// The machines of a cluster as a file or a list, in the forms of Open MPI,
// Horovod and torchrun:
//
//   # comment
//   node1 slots=4          four ranks
//   node2:2                two ranks: a number below 1024 is a count of slots
//   node3:29500            one rank, reached at this port
//   [fd00::7]:29500
//
// Ranks are numbered line by line. Slurm's short form is read, too: "node[001-003,7],login".
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_IDENTITY_HOST_LIST_H_
#define GRAPEVINE_NODE_IDENTITY_HOST_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"

namespace grapevine {

// Where each rank runs, by rank; port 0 where none was given.
using HostSlots = std::vector<HostAddress>;

// Reads --hostfile. kInput; the message begins with FILE:LINE.
absl::StatusOr<HostSlots> ReadHostfile(const std::string& path);

// Reads -H "node1:4,node2:4". kUsage.
absl::StatusOr<HostSlots> ParseHostList(std::string_view list);

inline constexpr size_t kMaxHostSlots = 65536;

// All hosts in order; leading zeros are kept, several brackets multiply, the last one varying
// fastest, as `scontrol show hostnames` does. kUsage for anything malformed or beyond
// kMaxSlurmHosts.
absl::StatusOr<std::vector<std::string>> ExpandSlurmNodelist(std::string_view list);

inline constexpr size_t kMaxSlurmHosts = 65536;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_HOST_LIST_H_
