// What members of a run say of each other: that one has lost another. An accusation is held back
// until the accused has had time to speak, since the end of a dead node's own connection says more.
//
// Without I/O: time is what the caller says. Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_
#define GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/status.h"
#include "node/control/control_protocol.h"

namespace grapevine {

struct Accusation {
  Rank culprit;
  Rank reporter;
  Failure failure;
  std::string message;
};

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

  // Who is to go when `reporter` has lost `culprit`. Where the others go on, that is the reporter
  // if it has lost the coordinator's node, which all others have to do with, or a server; unless
  // more than half have, of those who are there or went for that.
  Rank Blamed(Rank reporter, Rank culprit, Failure failure);

  // Only the first one of a culprit counts; where one ends the run, only the first one.
  void Add(Accusation accusation, SteadyTime now);
  // Whose hearing is over: the accused has spoken after it, so that its connection is known to be
  // alive (what came earlier may be of a node that is dead by now), or says nothing for long.
  // `last_heard`: when a member last spoke.
  std::optional<Accusation> Heard(SteadyTime now,
                                  const std::function<SteadyTime(Rank)>& last_heard) const;
  bool empty() const { return pending_.empty(); }

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

  const Options options_;
  std::map<Rank, Pending> pending_;  // by the culprit
  std::set<Rank> left_out_;
  std::map<Rank, std::set<Rank>> without_;  // who have lost each of those
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_ACCUSATIONS_H_
