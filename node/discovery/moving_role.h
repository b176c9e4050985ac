// MovingRole is rank 0's role in a run in which it may move to another node. A store says which
// node has the role.
//
// The node that has the role holds it by a lease (role_lease.h), and announces its address in the
// store. Once the lease has lapsed, one of the nodes that have lost their coordinator takes the
// role; of several nodes, the store lets one. A node that has the role and loses sight of the store
// takes it again if no other node has had it meanwhile; otherwise the node is no longer wanted, and
// is told so.
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
  // Returns the error with which to give up waiting; OK to go on.
  using Interrupted = std::function<absl::Status()>;

  // A node that has lost its coordinator.
  struct Candidate {
    std::string run_id;
    Rank rank = 0;
    HostAddress advertised;  // the address at which the candidate can be reached
    Rank lost = 0;           // the rank that had the role
    // Whether nothing listens at the address of the process that had the role. On one machine that
    // is certain proof that the process is gone, and its lease need not lapse first. Between
    // machines, a firewall may look like that although the process lives.
    bool gone = false;
    // The time for which other candidates have precedence.
    std::chrono::milliseconds delay{0};
  };
  struct Holder {
    Rank rank = 0;
    bool own = false;  // whether the candidate itself has taken the role
  };
  // How the run has ended: OK, or the run's verdict with its Failure.
  struct Over {
    absl::Status how;
  };
  using Settled = std::variant<Holder, Over>;

  virtual ~MovingRole() = default;

  // Waits until a node has the role that did not have it before, or until the run is over. Takes
  // the role for `candidate` if no node has it. Returns Unavailable if the role is still taken at
  // `deadline`, or if the store does not answer.
  virtual absl::StatusOr<Settled> Settle(const Candidate& candidate, Deadline deadline,
                                         const Interrupted& interrupted) = 0;
  // Writes into the store how the run has ended, within a moment or not at all, and returns whether
  // the store has it. Called by the node that has the role; void if another node has taken it.
  virtual absl::Status EndRun(const std::string& run_id, const absl::Status& how) = 0;
  // Returns the longest time for which a role that no node keeps stays taken.
  virtual std::chrono::milliseconds LongestVacancy() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_MOVING_ROLE_H_
