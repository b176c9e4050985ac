// ResolveIdentity finds out which node this process is, and where rank 0 is: from flags, the
// environment of a launcher, or a host file.
//
//   rank         --rank > RANK > Open MPI > Slurm > PMI > this host's slot in
//                the host file
//   world size   --world-size > WORLD_SIZE, the launcher of the rank and the
//                host file, which must agree
//   local rank   LOCAL_RANK > the launcher of the rank > 0
//   rank 0's host  --master-addr > first of the host file > MASTER_ADDR > first
//                of Slurm's nodes > this machine, if every rank is on it
//                (none if --coordinator names a store, where rank 0 says where it is)
//   its port     --master-port > that line of the host file > MASTER_PORT > 29500;
//                --master-addr and MASTER_ADDR may include it (HOST:PORT)
//
// Open MPI comes before Slurm: in a process that mpirun started inside a Slurm job, the variables
// of both are set, and Slurm's say where mpirun runs.
//
// Pure functions of their arguments, safe from any thread.
#ifndef GRAPEVINE_NODE_IDENTITY_IDENTITY_H_
#define GRAPEVINE_NODE_IDENTITY_IDENTITY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/identity/host_address.h"

namespace grapevine {

// The hosts of a cluster, by rank; port 0 where none was given. They come from a file or a list, in
// the forms of Open MPI, Horovod and torchrun:
//
//   # comment
//   node1 slots=4          four ranks
//   node2:2                two ranks: a number below 1024 is a count of slots
//   node3:29500            one rank, reached at this port
//   [fd00::7]:29500
//
// Ranks are numbered line by line. Slurm's short form is read, too: "node[001-003,7],login".
using HostSlots = std::vector<HostAddress>;

// Reads --hostfile. Errors are kInput; the message begins with FILE:LINE.
absl::StatusOr<HostSlots> ReadHostfile(const std::string& path);

// Reads -H "node1:4,node2:4". Errors are kUsage.
absl::StatusOr<HostSlots> ParseHostList(std::string_view list);

inline constexpr size_t kMaxHostSlots = 65536;

// Returns whether `host`, of a host file or list, is this machine, which has `own_names`.
bool IsThisMachine(std::string_view host, const std::vector<std::string>& own_names);

// Returns all hosts of Slurm's short form, in order. Leading zeros are kept; several brackets
// multiply, the last one varying fastest, as in `scontrol show hostnames`. kUsage for anything
// malformed or beyond kMaxSlurmHosts.
absl::StatusOr<std::vector<std::string>> ExpandSlurmNodelist(std::string_view list);

inline constexpr size_t kMaxSlurmHosts = 65536;

inline constexpr int kDefaultMasterPort = 29500;  // torchrun's

// The origin of a value that no flag, file or variable has given.
inline constexpr char kNobody[] = "default";

// A value and where it came from: "--rank", "SLURM_PROCID", kNobody.
template <typename T>
struct Sourced {
  T value{};
  std::string origin;
};

struct IdentityOptions {
  std::optional<Sourced<int>> rank = {};
  std::optional<Sourced<int>> world_size = {};
  // The experiment's number of nodes, which counts if nothing else gives the world size.
  std::optional<Sourced<int>> nodes = {};
  std::optional<Sourced<std::string>> master_host = {};
  std::optional<Sourced<int>> master_port = {};
  // The store in which rank 0 says where it is, once it listens; empty if there is none. With a
  // store, no node needs to know rank 0's host and port.
  std::string announced = {};
  std::optional<Sourced<HostSlots>> hosts = {};  // --hostfile or -H
  // Whether this process is the only node if nothing gives the number of nodes.
  bool alone = false;
  // The names and addresses under which a host file may list this machine.
  std::vector<std::string> own_names = {};
};

struct NodeIdentity {
  Sourced<Rank> rank, world_size;
  Sourced<int> local_rank;
  Sourced<std::string> master_host;  // empty if rank 0 announces itself
  Sourced<int> master_port;          // 0 if rank 0 announces itself
  // This rank's line of the host file: the host to advertise, and the port to listen on unless it
  // is 0.
  std::optional<HostAddress> slot;
};

// Returns the value of an environment variable, or none.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Returns the identity of this process. kUsage if a value is missing, malformed or contradictory:
// the message names the variables or flags, their values and the remedy.
absl::StatusOr<NodeIdentity> ResolveIdentity(const IdentityOptions& options,
                                             const Environment& environment);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_IDENTITY_IDENTITY_H_
