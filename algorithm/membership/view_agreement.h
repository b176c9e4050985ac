// How the remaining members agree on who goes on, and from which round, when members are lost or
// come in.
//
// Without I/O, for the coordinator of real nodes and for the simulator. The agreement has two
// phases, because the nodes of a gossip are in different rounds, and none may go through a round in
// one graph while its neighbour goes through it in another:
//
//   1. Prepare: each remaining member says how far it may have gone by the time of the view, i.e.
//      the last round that it may begin until then, and keeps to it.
//   2. The view, once all have answered: it holds from the round after the latest answer. All
//      members go through the rounds before it without the lost ones (algorithm/event.h, Lost).
//
// A member that was left out may come in again (Admit), in a view that follows one without it, once
// all other members have heard of that one: they have answered a Prepare that was sent after it.
// The newcomer itself is not asked, and begins at the new view's first round; if the run has no
// such round, it is declined.
//
// Where fewer than `least` members are left, they wait for others to come in (`--on-failure=wait`).
// The question is opened again at once, so that no member begins a round past its answer, and stays
// open until `least` members would be in, or no round is left for newcomers.
//
// A view with the same members (Renew), except for those lost meanwhile, serves a checkpoint of
// nodes that do not go through rounds together: nothing that is sent in one view arrives in the
// next, so the states that all nodes have in between belong together.
//
// If members are lost meanwhile, the question is opened anew, under a ballot of its own; late
// answers to an earlier ballot count for nothing. A view may follow another before all members have
// reached the first one: epochs number the views, and first rounds never decrease.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/view.h"

namespace grapevine {

class ViewAgreement {
 public:
  using Decree = std::variant<Prepare, View>;

  // `first` has all members, from the first round on. No member begins a round at or past `limit`.
  // With fewer than `least` members, the others wait for more. `ballot` is the last ballot that any
  // member has heard of, if another node has asked them before; `first` is then the last view that
  // was agreed upon.
  ViewAgreement(View first, Round limit, Member least = 0, uint32_t ballot = 0)
      : limit_(limit),
        least_(static_cast<size_t>(least)),
        view_(std::move(first)),
        living_(view_.members),
        ballot_(ballot) {}

  // Moves the end of the run outwards to `limit`; a smaller one changes nothing.
  void Extend(Round limit) { limit_ = std::max(limit_, limit); }
  // Ends the run at `limit`; no member has promised a later round.
  void Close(Round limit);

  // Records that a member, or a node that waits to come in, is lost. Does nothing if that is known.
  void Lose(Member member);
  // Records that a node outside the run wants to come in: it is in a view that follows, or
  // declined. Does nothing if the node is in the run, or waits already.
  void Admit(Member member);
  // Asks for a view in which all go on as they are, with this checkpoint (View::checkpoint).
  void Renew(Round checkpoint);
  // Returns, once, the nodes that cannot come in because the run has no round left.
  std::vector<Member> TakeDeclined() { return std::exchange(declined_, {}); }
  // Handles an answer, which may come again: `round` is the last round that `member` may begin; -1:
  // none. Errors are the member's violations, phrased to follow "rank 3 ".
  absl::Status OnPromise(Member member, uint32_t ballot, Round round);

  // Returns what all members must be told next, if anything; more may follow.
  std::optional<Decree> Take();

  // Returns the latest view that was agreed upon.
  const View& view() const { return view_; }
  // Returns the members that are in the run and not lost, also while no view is agreed upon.
  // Ascending.
  const std::vector<Member>& living() const { return living_; }
  bool agreed() const { return !asking_; }
  // Returns whether all members have answered and wait for others to come in.
  bool waits() const { return asking_ && Answered() && Lacks(); }

 private:
  // Opens the question under a new ballot.
  void Ask();
  // Returns whether the question must be opened although no member has been lost since the last
  // view.
  bool MustAsk() const;
  // Answers the question with a view, once all members have said how far they may go.
  void Agree();
  bool Answered() const { return promised_.size() == living_.size(); }
  // Returns the first round that no member may have begun, once all have answered.
  Round Next() const;
  // Returns whether too few members would go on. False until all of them know which members are
  // lost, and if no rounds are left.
  bool Lacks() const;

  Round limit_;
  size_t least_;
  View view_;
  std::vector<Member> living_;
  std::set<Member> waiting_;  // nodes that wait to come in
  std::set<Member> coming_;   // nodes of waiting_ that come in under this ballot
  std::vector<Member> declined_;
  Round checkpoint_ = 0;  // View::checkpoint of the next view
  uint32_t ballot_;
  bool asking_ = false;
  std::map<Member, Round> promised_;  // answers to this ballot
  std::optional<Decree> decree_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_
