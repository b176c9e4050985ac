// Slurm's short form for lists of hosts: "node[001-003,7],login".
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_IDENTITY_SLURM_NODELIST_H_
#define GRAPEVINE_NODE_IDENTITY_SLURM_NODELIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// All hosts in order; leading zeros are kept, several brackets multiply with the
// last one running fastest, as `scontrol show hostnames` does. kUsage for
// anything malformed or beyond kMaxSlurmHosts.
absl::StatusOr<std::vector<std::string>> ExpandSlurmNodelist(std::string_view list);

inline constexpr size_t kMaxSlurmHosts = 65536;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_SLURM_NODELIST_H_
