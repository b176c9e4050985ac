// How the nodes of a run find rank 0: the place where they look for it (CoordinatorPlace), how they
// look when nobody told them its address (Discovery), and how they ask at an address whether it is
// there (CoordinatorProbe).
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
  std::string address;  // HOST or HOST:PORT, checked by who knows the other source of a port
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
// Where the nodes of a run look for rank 0, as --coordinator says it:
//
//   HOST[:PORT]              there (as --master-addr)
//   dns:NAME:PORT            at one of the addresses of a name: a headless service, whose pods come
//                            up one by one
//   file:DIR                 where rank 0 says it is, in a folder that all nodes share
//   etcd:HOST:PORT/RUN-KEY   the same in etcd, under a key of the run's own
using CoordinatorPlace =
    std::variant<CoordinatorAt, CoordinatorInDns, CoordinatorInFolder, CoordinatorInEtcd>;

// kUsage quotes the text and gives the forms. Pure, as is IsInStore.
absl::StatusOr<CoordinatorPlace> ParseCoordinatorPlace(std::string_view text);

// Whether rank 0 says there where it is, so that nobody needs to know its address or port.
bool IsInStore(const CoordinatorPlace& place);

// Rank 0, as it listens.
struct ListeningCoordinator {
  std::string run_id;
  HostAddress advertised;  // without a host: it listens on every address of its machine
};

// Rank 0, as it was found.
struct FoundCoordinator {
  HostAddress address;
  // What its certificate must name where that is not the address's host; else empty.
  std::string certified_name;
  Rank rank = 0;  // whose it is
};

// Thread-safe.
class Discovery {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // An error to give up waiting with; asked every two seconds or more often.
  using Interrupted = std::function<absl::Status()>;

  virtual ~Discovery() = default;

  // Where it looks, for messages: "etcd at 10.0.0.1:2379, key grapevine/run-17/coordinator".
  virtual const std::string& place() const = 0;
  // Rank 0: from now on the others find it. kRendezvous names another rank 0 of the same run, or a
  // store that is away.
  virtual absl::Status Announce(const ListeningCoordinator& own, Deadline deadline,
                                const Interrupted& interrupted) = 0;
  // Rank 0: they no longer do. Idempotent.
  virtual void Withdraw() = 0;
  // The others: an address where rank 0 answers. kRendezvous says who is missing, where it was
  // looked for, for how long, and what to do.
  virtual absl::StatusOr<FoundCoordinator> Find(Deadline deadline,
                                                const Interrupted& interrupted) = 0;
  // Where rank 0's role may move to another node; else null. Lives as long as this.
  virtual MovingRole* moving_role() { return nullptr; }
  // By what rank 0, or whoever has its role, may act for the run; null where no lease says so.
  // Lives as long as this.
  virtual RoleLease* lease() { return nullptr; }
};

struct ProbeQuestion {
  std::span<const HostAddress> addresses;
  // By which health service a coordinator is known: CoordinatorService or ServiceOfRun.
  std::string service;
  std::string certified_name;  // FoundCoordinator's
  Rank rank = 0;  // FoundCoordinator's: which a certificate must name, where it names one
};

struct ProbeAnswer {
  std::optional<HostAddress> coordinator;  // the first that answered so
  std::string why_not;                     // "10.0.0.2:29500: connection refused, ..."
};

// Asks, at several addresses at once, whether a coordinator listens there. Returns by `deadline` or
// soon after.
using CoordinatorProbe = std::function<ProbeAnswer(const ProbeQuestion& question,
                                                   std::chrono::steady_clock::time_point deadline)>;

// Health services (grpc.health.v1) that rank 0 offers: that of any coordinator, and that of its
// run, which only those know who know the run's id.
inline constexpr char kCoordinatorService[] = "grapevine.control.Control";
std::string ServiceOfRun(const std::string& run_id);

// The error of a node that has looked for rank 0 in vain. kRendezvous: "cannot join the run:
// for 60.0 s no rank 0 was found by way of PLACE: WHY".
absl::Status RankZeroNotFound(const std::string& place, std::chrono::nanoseconds looked,
                              const absl::Status& why);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_
