// Judges nodes that have never been connected, according to one of them: an address, a port or a
// firewall is not as the run needs it. Then the rendezvous has failed, for all nodes, even in a run
// that goes on without lost nodes: if one of the two went on without the other, it would leave out
// a node that is well, and end as if all had taken part.
//
// This holds for edges that are first tried within --rendezvous-timeout of the beginning, when
// ending the run loses nothing yet. A run whose nodes meet late (random matchings, nodes that have
// come in) has more to lose; there, an edge that does not work is a loss like any other. A node
// that died before it was ever reached is such a loss, too. Therefore the accused must have spoken
// since the accusation.
//
// Without I/O: the caller passes the time in. Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_FIRST_CONTACTS_H_
#define GRAPEVINE_NODE_CONTROL_FIRST_CONTACTS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "node/control/accusations.h"
#include "node/control/control_protocol.h"

namespace grapevine {

class FirstContacts {
 public:
  struct Options {
    std::chrono::nanoseconds rendezvous_timeout;
    std::chrono::nanoseconds peer_timeout;
  };
  explicit FirstContacts(const Options& options) : options_(options) {}

  // Reports that the run begins. Not called for a run that is taken over, none of whose edges is of
  // the beginning.
  void Begin(SteadyTime now) { began_ = now; }
  // Returns whether the accusation is to be judged here: a kRendezvous between members that have
  // begun the run, over an edge of the beginning.
  bool Concerns(const Accusation& accusation, SteadyTime now) const;

  void Add(Accusation accusation, SteadyTime now);
  // Returns the first accusation whose accused has spoken a while after it, as is required of any
  // accused: the two nodes are alive, and have never met.
  const Accusation* Unmet(const std::function<SteadyTime(Rank)>& last_heard) const;
  // Returns the accusations whose accused has said nothing for long: if anything, it is lost.
  std::vector<Accusation> TakeUnheard(SteadyTime now);
  bool empty() const { return pending_.empty(); }

  void LeaveOut(Rank lost);
  void TakeIn(Rank newcomer) { newcomers_.insert(newcomer); }
  // Extends all hearings by `gap`, during which the coordinator listened to nobody.
  void Postpone(std::chrono::nanoseconds gap);

 private:
  struct Pending {
    Accusation accusation;
    SteadyTime at;
  };

  const Options options_;
  std::optional<SteadyTime> began_;
  std::set<Rank> newcomers_;
  std::vector<Pending> pending_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_FIRST_CONTACTS_H_
