// How the nodes of a run find rank 0. CoordinatorPlace is the place where they look for it,
// Discovery finds it when its address is not given, and CoordinatorProbe asks at an address whether
// rank 0 is there.
#ifndef GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/identity/host_address.h"

namespace grapevine {

class MovingRole;
class RoleLease;

struct CoordinatorAt {
  std::string address;  // HOST or HOST:PORT, checked where another source of a port is known
};
struct CoordinatorInDns {
  HostAddress name;
};
struct CoordinatorInFolder {
  std::string folder;
};
struct CoordinatorInEtcd {
  HostAddress etcd;
  std::string run_key;
};
// The place where the nodes of a run look for rank 0, as given by --coordinator:
//
//   HOST[:PORT]              at this address (like --master-addr)
//   dns:NAME:PORT            at one of the addresses of a name: a headless service, whose pods come
//                            up one by one
//   file:DIR                 at the address that rank 0 announces in a folder that all nodes share
//   etcd:HOST:PORT/RUN-KEY   at the address that rank 0 announces in etcd, under a key of the run's
//                            own
using CoordinatorPlace =
    std::variant<CoordinatorAt, CoordinatorInDns, CoordinatorInFolder, CoordinatorInEtcd>;

// Parses the value of --coordinator. A kUsage error quotes `text` and lists the forms. A pure
// function.
absl::StatusOr<CoordinatorPlace> ParseCoordinatorPlace(std::string_view text);

// Whether rank 0 announces its address at `place`, so that no node needs to know its address or
// port. A pure function.
bool IsInStore(const CoordinatorPlace& place);

// Rank 0, as it listens.
struct ListeningCoordinator {
  std::string run_id;
  HostAddress advertised;  // without a host if rank 0 listens on every address of its machine
};

// Rank 0, as it was found.
struct FoundCoordinator {
  HostAddress address;
  // The name that rank 0's certificate must have, if it is not the host of `address`; empty
  // otherwise.
  std::string certified_name;
  Rank rank = 0;  // of the node at `address`, which has rank 0's role
};

// Thread-safe.
class Discovery {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // Returns the error with which to give up waiting; OK to go on. Called every two seconds or more
  // often.
  using Interrupted = std::function<absl::Status()>;

  virtual ~Discovery() = default;

  // Returns the place that is searched, for messages: "etcd at 10.0.0.1:2379, key
  // grapevine/run-17/coordinator".
  virtual const std::string& place() const = 0;
  // Announces this node as rank 0: from now on the other nodes find it. A kRendezvous error names
  // another rank 0 of the same run, or a store that does not answer.
  virtual absl::Status Announce(const ListeningCoordinator& own, Deadline deadline,
                                const Interrupted& interrupted) = 0;
  // Ends the announcement of this node: the other nodes no longer find it. Idempotent.
  virtual void Withdraw() = 0;
  // Finds an address where rank 0 answers; called by the other nodes. A kRendezvous error says that
  // rank 0 is missing, where and for how long it was looked for, and what to do.
  virtual absl::StatusOr<FoundCoordinator> Find(Deadline deadline,
                                                const Interrupted& interrupted) = 0;
  // Returns the role of rank 0 if it may move to another node; null otherwise. The object lives as
  // long as this discovery.
  virtual MovingRole* moving_role() { return nullptr; }
  // Returns the lease by which the node that has rank 0's role may act for the run; null if no
  // lease is needed. The object lives as long as this discovery.
  virtual RoleLease* lease() { return nullptr; }
};

struct ProbeQuestion {
  std::span<const HostAddress> addresses;
  // The health service by which a coordinator is known: kCoordinatorService or ServiceOfRun.
  std::string service;
  std::string certified_name;  // see FoundCoordinator
  Rank rank = 0;  // see FoundCoordinator; a certificate that names a rank must name this one
};

struct ProbeAnswer {
  std::optional<HostAddress> coordinator;  // the first address at which a coordinator answered
  std::string why_not;                     // "10.0.0.2:29500: connection refused, ..."
};

// Asks, at several addresses at once, whether a coordinator listens at one of them. Returns by
// `deadline` or soon after.
using CoordinatorProbe = std::function<ProbeAnswer(const ProbeQuestion& question,
                                                   std::chrono::steady_clock::time_point deadline)>;

// The health services (grpc.health.v1) that rank 0 offers: kCoordinatorService is that of any
// coordinator. ServiceOfRun is that of one run; only a node that knows the run's id knows its name.
inline constexpr char kCoordinatorService[] = "grapevine.control.Control";
std::string ServiceOfRun(const std::string& run_id);

// Returns the kRendezvous error of a node that has looked for rank 0 in vain: "cannot join the run:
// for 60.0 s no rank 0 was found by way of PLACE: WHY".
absl::Status RankZeroNotFound(const std::string& place, std::chrono::nanoseconds looked,
                              const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_
