// Nodes that have never been connected, by the account of one of them: an address, a port or a
// firewall is not as the run needs it. Then the rendezvous has failed, for all and whatever becomes
// of lost nodes otherwise: who went on without the other would leave out a node that is well, and
// end as if all had taken part.
//
// That is so of the edges that are first tried within --rendezvous-timeout of the beginning, when
// nothing is lost yet by ending. A run whose nodes meet late (random matchings, nodes that have
// come in) has more to lose, and there it is one edge that does not work: a loss like any other.
// A node that died before it was ever reached is such a loss, too, which is why the accused has to
// have spoken since the accusation.
//
// Without I/O: time is what the caller says. Thread-compatible.
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

  // The run begins. Of one that is taken over no edge is of the beginning.
  void Begin(SteadyTime now) { began_ = now; }
  // Whether it is one to be judged here: kRendezvous, of members that have begun the run, over an
  // edge of the beginning.
  bool Concerns(const Accusation& accusation, SteadyTime now) const;

  void Add(Accusation accusation, SteadyTime now);
  // The first whose accused has spoken a while after it, as is asked of any accused: the two are
  // alive, and have never met.
  const Accusation* Unmet(const std::function<SteadyTime(Rank)>& last_heard) const;
  // Those whose accused has said nothing for long: it is lost, if anything.
  std::vector<Accusation> TakeUnheard(SteadyTime now);
  bool empty() const { return pending_.empty(); }

  void LeaveOut(Rank lost);
  void TakeIn(Rank newcomer) { newcomers_.insert(newcomer); }
  // Nobody was listened to for so long.
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
