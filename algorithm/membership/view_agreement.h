// Who goes on when members are lost or come in, and from which round: agreed upon by those who are
// left.
//
// Without I/O, for the coordinator of real nodes and for the simulator. Two phases, as nodes of a
// gossip are in different rounds, and none may go through a round in one graph while its neighbour
// goes through it in another:
//
//   1. Prepare: everybody left says how far it may have gone by the time of the view, the last
//      round that it may begin until then, and keeps to it.
//   2. Once all have answered, the view: it holds from the round after the latest of these. All go
//      through the rounds until then without the lost (algorithm/event.h, Lost).
//
// A member that was left out may come in again (Admit), in a view after one without it that all of
// the others have heard of: they have answered a Prepare that was sent after that. It is not asked
// itself, and begins at the new view's first round; where the run has no such round, it is
// declined.
//
// Where fewer than `least` are left, the others wait for members to come in (`--on-failure=wait`):
// the question is opened again at once, so that nobody begins a round past its answer, and stays
// open until as many would be in, or no round is left for newcomers.
//
// A view with the same members (Renew), but for those who are lost meanwhile, is for a checkpoint
// of nodes that go through no rounds together: nothing that is sent in one view arrives in the
// next, so what all have in between belongs together.
//
// Members lost meanwhile open the question anew, under a ballot of its own; late answers to an
// earlier one count for nothing. A view may follow another before everybody has reached the
// first: views have epochs, and rounds never fall.
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

  // `first`: all members, from the first round on. No member begins a round at or past `limit`.
  // `ballot`: the last that any member has heard of, where somebody else has asked before; `first`
  // is then the last view that was agreed upon. `least`: with fewer members they wait for more.
  ViewAgreement(View first, Round limit, Member least = 0, uint32_t ballot = 0)
      : limit_(limit),
        least_(static_cast<size_t>(least)),
        view_(std::move(first)),
        living_(view_.members),
        ballot_(ballot) {}

  // The run has got longer.
  void Extend(Round limit) { limit_ = std::max(limit_, limit); }
  // There are no more rounds than these, of which no member has promised a later one.
  void Close(Round limit);

  // A member is lost, or one that waits to come in. Nothing happens if it is known to be.
  void Lose(Member member);
  // One that is not in the run wants to come in: it is in a view that follows, or declined. Nothing
  // happens if it is in or waits.
  void Admit(Member member);
  // All go on as they are, in a view that follows, with that checkpoint (View::checkpoint).
  void Renew(Round checkpoint);
  // Those that cannot come in, as the run has no round left.
  std::vector<Member> TakeDeclined() { return std::exchange(declined_, {}); }
  // An answer, which may come again: `round` is the last that `member` may begin; -1: none. Errors
  // are the member's violations, to follow "rank 3 ".
  absl::Status OnPromise(Member member, uint32_t ballot, Round round);

  // What everybody who is in is to be told, if there is anything new; there may be more after it.
  std::optional<Decree> Take();

  // The latest that was agreed upon.
  const View& view() const { return view_; }
  // Those who are in and not lost, also while they have not agreed. Ascending.
  const std::vector<Member>& living() const { return living_; }
  bool agreed() const { return !asking_; }
  // Whether all have answered, and wait for members to come in.
  bool waits() const { return asking_ && Answered() && Lacks(); }

 private:
  // Opens the question under a new ballot.
  void Ask();
  // Whether it is to be opened though nobody has been lost since.
  bool MustAsk() const;
  // The answer to it, once all have said how far they may go.
  void Agree();
  bool Answered() const { return promised_.size() == living_.size(); }
  // The first round that nobody may have begun, once all have answered.
  Round Next() const;
  // Whether too few would go on, all of whom know who is lost, and have rounds left.
  bool Lacks() const;

  Round limit_;
  size_t least_;
  View view_;
  std::vector<Member> living_;
  std::set<Member> waiting_;  // to come in
  std::set<Member> coming_;   // of those, under this ballot
  std::vector<Member> declined_;
  Round checkpoint_ = 0;  // of the next view
  uint32_t ballot_;
  bool asking_ = false;
  std::map<Member, Round> promised_;  // answers to this ballot
  std::optional<Decree> decree_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_
