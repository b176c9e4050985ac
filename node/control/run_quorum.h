// Whether enough members are left for a run to go on (algorithm/membership/quorum.h), and how long
// members that are too few wait for others to come in (--on-failure=wait).
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_RUN_QUORUM_H_
#define GRAPEVINE_NODE_CONTROL_RUN_QUORUM_H_

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/membership/members_lately.h"
#include "base/ids.h"
#include "node/control/blame.h"
#include "node/control/control_protocol.h"

namespace grapevine {

class RunQuorum {
 public:
  struct Options {
    Rank nodes = 0;                 // of the run
    std::optional<Rank> min_nodes;  // --min-nodes
    // Whether members that are too few wait for newcomers.
    bool waits = false;
    std::chrono::milliseconds peer_timeout{0};
    std::chrono::milliseconds rendezvous_timeout{0};
  };
  // `lately` has the views so far.
  RunQuorum(const Options& options, MembersLately lately)
      : options_(options), lately_(std::move(lately)) {}

  // Reports that a view with so many members is agreed upon.
  void OnView(Rank members, SteadyTime now) { lately_.OnView(members, now.time_since_epoch()); }
  // Reports that all members have done their rounds: one that is lost later has done its part.
  void OnAllDone() { all_done_ = true; }
  // Leaves `gap` out of account, during which nobody could be missed.
  void Postpone(std::chrono::nanoseconds gap);

  // Returns the number of members below which they wait for newcomers; 0: they never do.
  Rank waits_below() const { return options_.waits ? options_.min_nodes.value_or(0) : 0; }
  // Returns whether so many members may go on, though perhaps not before others have come in.
  bool Suffices(Rank members, SteadyTime now) const {
    return options_.waits || members >= Least(now);
  }
  // Returns the message that so many members are too few.
  std::string TooFew(Rank members, SteadyTime now) const;

  // Returns why the run ends, once so many members have waited for newcomers in vain. Adds what the
  // log is to say to `notices`.
  std::optional<Blame> JudgeWait(Rank members, SteadyTime now, std::vector<std::string>* notices);
  // Reports that a newcomer makes so many members.
  void OnNewcomer(Rank members, SteadyTime now) {
    if (members >= Least(now)) short_since_.reset();
  }

 private:
  Rank Least(SteadyTime now) const;
  Rank Lately(SteadyTime now) const {
    return lately_.Most(now.time_since_epoch(), options_.peer_timeout);
  }

  const Options options_;
  MembersLately lately_;
  bool all_done_ = false;
  std::optional<SteadyTime> short_since_;  // since when members are too few, and wait
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_RUN_QUORUM_H_
