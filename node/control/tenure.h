// Whether a coordinator may decide for the run at this moment, where rank 0's role is held by a
// lease that may lapse (node/discovery/role_lease.h): then another node may have taken the run
// over, and who is in it is that one's to say. What has happened to nodes meanwhile is kept, to be
// judged once the role is certain again.
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
  // Returns whether it has come back.
  bool Set(bool certain, SteadyTime now);
  bool certain() const { return !uncertain_since_; }
  // How long it has not been; 0 while it is.
  std::chrono::nanoseconds Uncertain(SteadyTime now) const;
  // This process stood still for so long, in which it could not become certain.
  void Postpone(std::chrono::nanoseconds gap) {
    if (uncertain_since_) *uncertain_since_ += gap;
  }

  // This rank's process has gone, `how` being OnGone's of the coordinator.
  void Keep(Rank gone, std::string how) { gone_.insert_or_assign(gone, std::move(how)); }
  const std::map<Rank, std::string>& gone() const { return gone_; }
  std::map<Rank, std::string> TakeGone() { return std::exchange(gone_, {}); }

 private:
  std::optional<SteadyTime> uncertain_since_;
  std::map<Rank, std::string> gone_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_TENURE_H_
