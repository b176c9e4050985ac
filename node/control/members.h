// The nodes that are in a run, as its coordinator knows them: their sessions, and what each of them
// has been told and has reported.
//
// A member outlives its sessions. While its connection is broken it is *absent*: directives for it
// are kept (control_protocol.h), and are sent again when the same process comes back.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_MEMBERS_H_
#define GRAPEVINE_NODE_CONTROL_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/dispatch.h"

namespace grapevine {

struct MemberRecord {
  std::optional<SessionId> session;    // none while it is absent
  std::string broken;                  // why its last connection is over
  control::Registration registration;  // with the number of its latest call
  UnacknowledgedMessages<control::Directive> told;
  ReceivedMessages heard;
  uint64_t acknowledged = 0;        // reports of `heard` that the node knows to have arrived
  std::optional<Round> done_below;  // the round limit with which it is done
};

class Members {
 public:
  // Directives go to `out`, which outlives the members.
  explicit Members(Dispatch* out) : out_(*out) {}
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  bool contains(Rank rank) const { return members_.contains(rank); }
  Rank size() const { return static_cast<Rank>(members_.size()); }
  // In the order of ranks.
  auto begin() const { return members_.begin(); }
  auto end() const { return members_.end(); }
  // `rank` is a member's, here and below.
  const MemberRecord& At(Rank rank) const { return members_.at(rank); }
  // Null if `rank` is no member's.
  const MemberRecord* Find(Rank rank) const;
  // "rank 3 at 10.0.0.3:7000", for messages.
  std::string NameOf(Rank rank) const;
  // The member whose session this is.
  std::optional<Rank> RankOf(SessionId session) const;

  // Takes the place of a member of the same rank, if there is one.
  void Add(SessionId session, const control::Registration& registration);
  // The process of a member has called again: this session replaces the one before, and whatever
  // the process does not know to have arrived is sent once more.
  void Return(SessionId session, const control::Registration& registration);
  // The connection of a member is broken, which makes it absent.
  void Break(Rank rank, std::string_view why);
  // Does nothing if `rank` is no member's. An absent one remains so.
  void Remove(Rank rank);
  void SetDone(Rank rank, std::optional<Round> below) { members_.at(rank).done_below = below; }

  // Ranks that are to come, or to come back, and the address where the process of each listened
  // last.
  const std::map<Rank, std::string>& absent() const { return absent_; }
  bool IsAbsent(Rank rank) const { return absent_.contains(rank); }
  void Await(Rank rank, const std::string& address) { absent_.insert_or_assign(rank, address); }
  void AwaitNoLonger(Rank rank) { absent_.erase(rank); }

  // Sends a directive, now or when the member comes back, whichever is possible.
  void Tell(Rank rank, control::Directive directive);
  void TellAll(const control::Directive& directive);
  // Lets members that are connected know that the coordinator is alive and what it has received.
  void Beat(Rank rank);
  void BeatAll();

  enum class Arrival {
    kNew,
    kAgain,      // it has been looked at before
    kImpossible  // a report is missing before it, or it acknowledges what was never said
  };
  // Counts a report of a member, and what that member has received.
  Arrival Take(Rank rank, const control::Report& report);

  // A member that leaves more than kMaxUnacknowledged directives unacknowledged.
  std::optional<Rank> Backlogged() const;
  static constexpr size_t kMaxUnacknowledged = 4096;

 private:
  void Detach(MemberRecord& member);

  Dispatch& out_;
  std::map<Rank, MemberRecord> members_;
  std::map<SessionId, Rank> ranks_;  // of sessions of members
  std::map<Rank, std::string> absent_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_MEMBERS_H_
