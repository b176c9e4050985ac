// Knows whether a coordinator may decide for the run at this moment, if rank 0's role is held by a
// lease (node/discovery/role_lease.h). If the lease lapses, another node may have taken the run
// over, and only that node may say which nodes are in it. What happens to nodes meanwhile is kept,
// to be judged once the role is certain again.
//
// Thread-compatible; without I/O.
#ifndef GRAPEVINE_NODE_CONTROL_TENURE_H_
#define GRAPEVINE_NODE_CONTROL_TENURE_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "node/control/control_protocol.h"

namespace grapevine {

class Tenure {
 public:
  // Sets whether the role is certain. Returns whether it has become certain again.
  bool Set(bool certain, SteadyTime now);
  bool certain() const { return !uncertain_since_; }
  // Returns for how long the role has been uncertain; 0 while it is certain.
  std::chrono::nanoseconds Uncertain(SteadyTime now) const;
  // Extends the deadline by `gap`, during which this process stood still and could not become
  // certain.
  void Postpone(std::chrono::nanoseconds gap) {
    if (uncertain_since_) *uncertain_since_ += gap;
  }

  // Notes that this rank's process has gone; `how` is as in Coordinator::OnGone.
  void Keep(Rank gone, std::string how) { gone_.insert_or_assign(gone, std::move(how)); }
  const std::map<Rank, std::string>& gone() const { return gone_; }
  std::map<Rank, std::string> TakeGone() { return std::exchange(gone_, {}); }

 private:
  std::optional<SteadyTime> uncertain_since_;
  std::map<Rank, std::string> gone_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_TENURE_H_
