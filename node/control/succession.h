// What a coordinator that takes a run over gathers of it, when the node of the one before is lost:
// who is left, how far they are, and what each has been told.
//
// Every member that comes says where it stands (control.proto, Standing). All that the coordinator
// before had decided is known to somebody who is left, or has had no effect: the latest view holds,
// the furthest limit (of an open-ended run the nearest), and new questions are asked under ballots
// above all that were heard. Whoever does not come is lost.
//
// A member that is awaited and lags behind does so by one view at most: the next one is agreed upon
// once all its members have answered, and they hear of a view before they are asked anew.
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
  Rank lost = 0;                       // whose node was the coordinator's
  std::vector<std::string> addresses;  // by rank, where their processes listen
  bool open_ended = false;             // the run: its limit moves inwards, once
  MembersLately lately;                // as the successor's node has heard of views
};

class Succession {
 public:
  Succession(SuccessionOptions options, Rank self, std::string run_id);

  // Why this node does not belong to the run that is taken over. Empty when it does.
  std::string Objection(const control::Registration& registration) const;
  // One without objections.
  void OnCome(const control::Registration& registration);
  // The process of one that has not come, or has come before, is gone.
  void OnGone(Rank rank);

  // Who may still come, and where their processes listen.
  std::map<Rank, std::string> awaited() const;
  // Whether all have come who can, this coordinator's own node among them.
  bool complete() const { return IsHere(self_) && awaited().empty(); }
  bool IsHere(Rank rank) const { return standings_.contains(rank); }

  // Of those who are here. The latest view that any has heard of, and as it was told.
  const View& view() const { return view_; }
  const control::View& told() const { return told_; }
  const std::vector<std::string>& addresses() const { return addresses_; }
  uint32_t ballot() const { return ballot_; }
  const control::RoundLimit& limit() const { return limit_; }
  Round coasts() const { return coasts_; }
  // Whether the node, which is here, has not heard of the latest view.
  bool Lags(Rank rank) const;
  std::optional<Round> DoneBelow(Rank rank) const;

 private:
  const SuccessionOptions options_;
  const Rank self_;
  const std::string run_id_;
  std::map<Rank, control::Standing> standings_;
  std::set<Rank> gone_;
  std::vector<std::string> addresses_;  // of processes that came later, too
  View view_;
  control::View told_;
  uint32_t ballot_ = 0;
  control::RoundLimit limit_;
  Round coasts_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SUCCESSION_H_
