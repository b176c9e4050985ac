// Gathers what a coordinator must know of a run that it takes over, when the node of the
// coordinator before is lost: which members are left, how far they are, and what each has been
// told.
//
// Every member that comes says where it stands (control.proto, Standing). Every decision of the
// coordinator before is known to some member that is left, or has had no effect. Hence the latest
// view holds, and the furthest limit (in an open-ended run, the nearest), and new questions are
// asked under ballots above all that were heard. A member that does not come is lost.
//
// A member that is awaited lags behind by at most one view: the next view is agreed upon once all
// its members have answered, and they hear of a view before they are asked anew.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_SUCCESSION_H_
#define GRAPEVINE_NODE_CONTROL_SUCCESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithm/membership/members_lately.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "node/control/control.pb.h"

namespace grapevine {

struct SuccessionOptions {
  Rank lost = 0;                       // the rank whose node was the coordinator's
  std::vector<std::string> addresses;  // by rank: where their processes listen
  bool open_ended = false;             // whether the run's limit moves inwards, once
  MembersLately lately;                // the views, as the successor's node has heard of them
};

class Succession {
 public:
  Succession(SuccessionOptions options, Rank self, std::string run_id);

  // Returns why this node does not belong to the run that is taken over. Empty if it does.
  std::string Objection(const control::Registration& registration) const;
  // Takes in a member without objections.
  void OnCome(const control::Registration& registration);
  // Reports that the process of a member, which may or may not have come, is gone.
  void OnGone(Rank rank);

  // Returns the members that may still come, and where their processes listen.
  std::map<Rank, std::string> awaited() const;
  // Returns whether all members that can come have come, including this coordinator's own node.
  bool complete() const { return IsHere(self_) && awaited().empty(); }
  bool IsHere(Rank rank) const { return standings_.contains(rank); }

  // Return what the members that have come know. The latest view that any of them has heard of, and
  // how it was told:
  const View& view() const { return view_; }
  const control::View& told() const { return told_; }
  const std::vector<std::string>& addresses() const { return addresses_; }
  uint32_t ballot() const { return ballot_; }
  const control::RoundLimit& limit() const { return limit_; }
  Round coasts() const { return coasts_; }
  // Returns whether the node has come, but has not heard of the latest view.
  bool Lags(Rank rank) const;
  std::optional<Round> DoneBelow(Rank rank) const;

 private:
  const SuccessionOptions options_;
  const Rank self_;
  const std::string run_id_;
  std::map<Rank, control::Standing> standings_;
  std::set<Rank> gone_;
  // The addresses, including those of processes that came later.
  std::vector<std::string> addresses_;
  View view_;
  control::View told_;
  uint32_t ballot_ = 0;
  control::RoundLimit limit_;
  Round coasts_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SUCCESSION_H_
