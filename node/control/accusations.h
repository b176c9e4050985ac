// What members of a run say of each other, and who goes for it.
//
// That one has lost another does not say which of the two is to blame, where the others go on. Such
// losses are kept until the first of those that have to do with each other has been heard for a
// while; then as few go as can, so that no two are left of whom one has lost the other
// (disputes.h). Whom this coordinator does not hear any more goes before that is asked.
//
// An accusation is judged by itself where its culprit is certain (it has sent NaN, or a wrong
// checksum), and where the first one ends the run.
//
// All are held back until the accused has had time to speak, since the end of a dead node's own
// connection says more.
//
// Without I/O: time is what the caller says. Thread-compatible.
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
  bool proven = false;  // what the culprit has sent cannot be; it was not merely lost
};

// How long after an accusation the accused has to have spoken, to be known to live.
inline std::chrono::nanoseconds Hearing(std::chrono::nanoseconds peer_timeout) {
  return std::min<std::chrono::nanoseconds>(std::chrono::seconds(1), peer_timeout / 4);
}
// How long it may take to speak.
inline std::chrono::nanoseconds LongestHearing(std::chrono::nanoseconds peer_timeout) {
  return peer_timeout / 2;
}

class Accusations {
 public:
  struct Options {
    Rank members;
    std::chrono::nanoseconds peer_timeout;
    bool resilient;  // members go on without those that are lost
    Rank coordinator = 0;
    Rank workers = 0;  // the ranks from here on are servers; 0: there are none
  };
  explicit Accusations(const Options& options) : options_(options) {}

  // Reporter and culprit are members. Later accusations between the same two do not count, nor do
  // later proofs against the same culprit; where one ends the run, only the first of all counts.
  void Add(Accusation accusation, SteadyTime now);
  // Whose hearing is over: those whom it may befall have spoken after it, so that their connections
  // are known to be alive (what came earlier may be of a node that is dead by now), or the accused
  // says nothing for long. `last_heard`: when a member last spoke. The culprit is who is to go,
  // which may be the reporter: where it has lost the coordinator's node, which all others have to
  // do with, or a server, unless more than half have, of those who are there or went for that; or
  // where it has lost others who have not lost each other.
  std::optional<Accusation> Heard(SteadyTime now,
                                  const std::function<SteadyTime(Rank)>& last_heard) const;
  // Who is to go first when these, of whom nobody has said so, are known to have lost each other
  // for long; there is one at least.
  Rank FirstToGo(const Dispute& dispute);
  bool empty() const;

  // A member is left out: what is said of it and by it counts no more, but what most have said of
  // the coordinator's node, or of a server, does.
  void LeaveOut(Rank lost);
  // Another process is in its place, of which nothing has been said.
  void TakeIn(Rank newcomer);
  // Nobody was listened to for so long.
  void Postpone(std::chrono::nanoseconds gap);

 private:
  struct Pending {
    Accusation accusation;
    SteadyTime at;
  };

  // Whether the others do not go on without it as they do without any other.
  bool IsMissedByAll(Rank rank) const {
    return rank == options_.coordinator || (options_.workers > 0 && rank >= options_.workers);
  }
  // Whether so many have lost it that it is to blame nevertheless.
  bool IsLostByMost(Rank rank) const;
  // The coordinator's node or a server, if most have lost it.
  std::optional<Rank> LostByMost(const Dispute& dispute) const;
  // The coordinator's node and the servers among these, as far as they are to stay.
  std::set<Rank> Kept(const Dispute& dispute) const;
  // Notes who has lost the coordinator's node, or a server.
  void NoteWithout(const Loss& loss);
  // Whoever says so may be left out since.
  bool Counts(const Loss& loss) const;

  std::optional<Accusation> HeardOfProven(SteadyTime now,
                                          const std::function<SteadyTime(Rank)>& last_heard) const;
  // Who goes first, once it is time.
  std::optional<Rank> Judged(const Dispute& dispute, SteadyTime now,
                             const std::function<SteadyTime(Rank)>& last_heard) const;
  // Since when it is known that `rank` may have to go; absent: it merely has lost others.
  std::optional<SteadyTime> AccusedSince(Rank rank, const Dispute& dispute,
                                         const std::set<Rank>& kept) const;
  // In the words of the last who has lost it, or else in its own.
  Accusation Against(Rank rank, const Dispute& dispute) const;

  const Options options_;
  std::map<Rank, Pending> proven_;  // by the culprit
  std::map<Loss, Pending> losses_;
  std::set<Rank> left_out_;
  std::map<Rank, std::set<Rank>> without_;  // who have lost each of those whom all miss
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_
