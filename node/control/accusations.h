// Judges what members of a run say of each other, and decides which of them has to go.
//
// If one member has lost another, that does not say which of the two is to blame. Where the others
// go on, such losses are kept until the first of those that belong together has been heard for a
// while. Then as few members go as possible, so that of no two remaining members one has lost the
// other (disputes.h). A member that this coordinator does not hear any more goes before that is
// asked.
//
// An accusation is judged by itself if its culprit is certain (it has sent NaN, or a wrong
// checksum), or if the first accusation ends the run.
//
// All accusations are held back until the accused has had time to speak, since the end of a dead
// node's own connection says more.
//
// Without I/O: the caller passes the time in. Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_
#define GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/status.h"
#include "node/control/control_protocol.h"
#include "node/control/disputes.h"

namespace grapevine {

struct Accusation {
  Rank culprit;
  Rank reporter;
  Failure failure;
  std::string message;
  // Whether the culprit was not merely lost, but has sent what cannot be.
  bool proven = false;
};

// Returns how long after an accusation the accused must have spoken to be known to live.
inline std::chrono::nanoseconds Hearing(std::chrono::nanoseconds peer_timeout) {
  return std::min<std::chrono::nanoseconds>(std::chrono::seconds(1), peer_timeout / 4);
}
// Returns the longest time that the accused may take to speak.
inline std::chrono::nanoseconds LongestHearing(std::chrono::nanoseconds peer_timeout) {
  return peer_timeout / 2;
}

class Accusations {
 public:
  struct Options {
    Rank members;
    std::chrono::nanoseconds peer_timeout;
    bool resilient;  // whether members go on without those that are lost
    Rank coordinator = 0;
    Rank workers = 0;  // servers are the ranks from here on; 0: no servers
  };
  explicit Accusations(const Options& options) : options_(options) {}

  // Adds an accusation of one member by another. Later accusations between the same two do not
  // count, nor do later proofs against the same culprit; if one ends the run, only the first of all
  // counts.
  void Add(Accusation accusation, SteadyTime now);
  // Returns an accusation whose hearing is over, if any. A hearing is over once the members that
  // may have to go have spoken after the accusation, so that their connections are known to be
  // alive (what came earlier may be from a node that is dead by now), or once the accused has said
  // nothing for long. `last_heard` returns when a member last spoke. The culprit of the result is
  // the member that has to go, which may be the reporter: if it has lost the coordinator's node,
  // which all others need, or a server, unless more than half of the members have, counting those
  // that are present or went because of that; or if it has lost others that have not lost each
  // other.
  std::optional<Accusation> Heard(SteadyTime now,
                                  const std::function<SteadyTime(Rank)>& last_heard) const;
  // Returns the member that has to go first if the members of `dispute`, none of which has said so,
  // are known to have lost each other for long. `dispute` is not empty.
  Rank FirstToGo(const Dispute& dispute);
  bool empty() const;

  // Leaves a member out: what it has said and what was said of it no longer count, except for what
  // most members have said of the coordinator's node, or of a server.
  void LeaveOut(Rank lost);
  // Reports that another process has taken the member's place; nothing has been said of it.
  void TakeIn(Rank newcomer);
  // Extends all hearings by `gap`, during which the coordinator listened to nobody.
  void Postpone(std::chrono::nanoseconds gap);

 private:
  struct Pending {
    Accusation accusation;
    SteadyTime at;
  };

  // Returns whether the others need `rank`, and do not go on without it as they do without any
  // other.
  bool IsMissedByAll(Rank rank) const {
    return rank == options_.coordinator || (options_.workers > 0 && rank >= options_.workers);
  }
  // Returns whether so many members have lost `rank` that it is to blame nevertheless.
  bool IsLostByMost(Rank rank) const;
  // Returns the coordinator's node or the server in the dispute that most have lost, if any.
  std::optional<Rank> LostByMost(const Dispute& dispute) const;
  // Returns the coordinator's node and the servers in the dispute, as far as they are to stay.
  std::set<Rank> Kept(const Dispute& dispute) const;
  // Notes the reporter, if it has lost the coordinator's node or a server.
  void NoteWithout(const Loss& loss);
  // Returns whether the loss still counts: its reporter may have been left out since.
  bool Counts(const Loss& loss) const;

  std::optional<Accusation> HeardOfProven(SteadyTime now,
                                          const std::function<SteadyTime(Rank)>& last_heard) const;
  // Returns the member that goes first, once it is time.
  std::optional<Rank> Judged(const Dispute& dispute, SteadyTime now,
                             const std::function<SteadyTime(Rank)>& last_heard) const;
  // Returns since when it is known that `rank` may have to go; nothing if it has merely lost
  // others.
  std::optional<SteadyTime> AccusedSince(Rank rank, const Dispute& dispute,
                                         const std::set<Rank>& kept) const;
  // Returns an accusation of `rank`, in the words of the last member that has lost it or, if none
  // has, in its own.
  Accusation Against(Rank rank, const Dispute& dispute) const;

  const Options options_;
  std::map<Rank, Pending> proven_;  // by the culprit
  std::map<Loss, Pending> losses_;
  std::set<Rank> left_out_;
  // The members that have lost each of those that all others need.
  std::map<Rank, std::set<Rank>> without_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_
