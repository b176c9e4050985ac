// How the nodes of a run find rank 0 when nobody told them its address.
#ifndef GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/identity/host_address.h"

namespace grapevine {

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
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_DISCOVERY_H_
