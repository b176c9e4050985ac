// What members of a run say of each other, and what follows from it: who has to go.
//
// A member that loses another one accuses it. Most accusations are judged as disputes
// (accusations.h); one over an edge that has never worked is about the start of the run
// (first_contacts.h). A run in which every node waits for another is stuck, and that is judged here
// as well, because neighbours that no longer hear each other name each other first.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_SUSPICIONS_H_
#define GRAPEVINE_NODE_CONTROL_SUSPICIONS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "node/control/accusations.h"
#include "node/control/blame.h"
#include "node/control/control_protocol.h"
#include "node/control/first_contacts.h"
#include "node/control/members.h"
#include "node/control/vital_signs.h"

namespace grapevine {

class Suspicions {
 public:
  struct Options {
    Accusations::Options disputes;
    std::chrono::nanoseconds rendezvous_timeout;
  };
  // `members` and `vitals` are the run's, and outlive the suspicions.
  Suspicions(const Options& options, const Members& members, const VitalSigns& vitals)
      : options_(options),
        members_(members),
        vitals_(vitals),
        accusations_(options.disputes),
        first_contacts_({.rendezvous_timeout = options.rendezvous_timeout,
                         .peer_timeout = options.disputes.peer_timeout}) {}

  // Tells that the run begins, which a run that is taken over does not.
  void Begin(SteadyTime now) { first_contacts_.Begin(now); }
  // Reporter and culprit are members.
  void Add(Accusation accusation, SteadyTime now);
  bool empty() const { return accusations_.empty() && first_contacts_.empty(); }

  // A member is excluded: it is suspected no more, and suspects nobody.
  void LeaveOut(Rank lost);
  // Another process has taken the place of a lost one.
  void TakeIn(Rank newcomer);
  // Extends all deadlines by `gap`, during which the coordinator listened to nobody.
  void Postpone(std::chrono::nanoseconds gap);

  // Judges what has been said, as far as those concerned have been heard.
  std::optional<Blame> Judge(SteadyTime now);
  // Judges a run in which nothing moves, unless members suspect each other. `done` says who has no
  // rounds left.
  std::optional<Blame> JudgeStuck(const std::function<bool(Rank)>& done);

 private:
  void Accuse(Accusation accusation, SteadyTime now);
  Blame NeverConnected(const Accusation& unmet) const;
  // Who goes when members that are not done wait for members that are: the latter cannot know that
  // what they sent last does not arrive.
  std::optional<Rank> ApartAtTheEnd(const std::function<bool(Rank)>& done);
  std::string Coordinator() const;  // "rank 0", for messages

  const Options options_;
  const Members& members_;
  const VitalSigns& vitals_;
  Accusations accusations_;
  FirstContacts first_contacts_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SUSPICIONS_H_
