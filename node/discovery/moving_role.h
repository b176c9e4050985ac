// Rank 0's role in a run where it may move to another node: who has it, as a store says.
//
// Whoever has the role holds it by a lease (role_lease.h), and says in the store where it is. Once
// that has lapsed, one of those who have lost their coordinator takes the role; of several, the
// store lets one. A node that has it and loses sight of the store takes it again if nobody else has
// had it meanwhile; else the node is no longer wanted, and is told so.
#ifndef GRAPEVINE_NODE_DISCOVERY_MOVING_ROLE_H_
#define GRAPEVINE_NODE_DISCOVERY_MOVING_ROLE_H_

#include <chrono>
#include <functional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/identity/host_address.h"

namespace grapevine {

// Thread-safe.
class MovingRole {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // An error to give up waiting with.
  using Interrupted = std::function<absl::Status()>;

  // A node that has lost its coordinator.
  struct Candidate {
    std::string run_id;
    Rank rank = 0;
    HostAddress advertised;  // where it can be reached
    Rank lost = 0;           // who had the role
    // Nobody listens where its process was. On this machine that is certain, and its lease need not
    // lapse; between machines a firewall may say the same of a process that lives.
    bool gone = false;
    // How long others have the precedence.
    std::chrono::milliseconds delay{0};
  };
  struct Holder {
    Rank rank = 0;
    bool own = false;  // the candidate has taken it
  };
  // The run has ended so: OK, or its verdict with its Failure.
  struct Over {
    absl::Status how;
  };
  using Settled = std::variant<Holder, Over>;

  virtual ~MovingRole() = default;

  // Waits until somebody has the role who had not before, or the run is over; takes it if nobody
  // has it. Unavailable says who still has it by `deadline`, or that the store is away.
  virtual absl::StatusOr<Settled> Settle(const Candidate& candidate, Deadline deadline,
                                         const Interrupted& interrupted) = 0;
  // The node that has the role: the run has ended so. Within a moment, or not at all.
  virtual void EndRun(const std::string& run_id, const absl::Status& how) = 0;
  // How long a role that nobody keeps stays taken, at most.
  virtual std::chrono::milliseconds LongestVacancy() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_MOVING_ROLE_H_
