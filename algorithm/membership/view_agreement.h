// Who goes on when members are lost, and from which round: agreed upon by those who are left.
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
// Members lost meanwhile open the question anew, under a ballot of its own; late answers to an
// earlier one count for nothing. A view may follow another before everybody has reached the
// first: views have epochs, and rounds never fall.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_

#include <cstdint>
#include <map>
#include <optional>
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
  // is then the last view that was agreed upon.
  ViewAgreement(View first, Round limit, uint32_t ballot = 0)
      : limit_(limit), view_(std::move(first)), living_(view_.members), ballot_(ballot) {}

  // A member is lost. Nothing happens if it is known to be.
  void Lose(Member member);
  // An answer, which may come again: `round` is the last that `member` may begin; -1: none. Errors
  // are the member's violations, to follow "rank 3 ".
  absl::Status OnPromise(Member member, uint32_t ballot, Round round);

  // What everybody left is to be told, if there is anything new.
  std::optional<Decree> Take() { return std::exchange(decree_, std::nullopt); }

  // The latest that was agreed upon.
  const View& view() const { return view_; }
  // Those who are not lost, also while they have not agreed. Ascending.
  const std::vector<Member>& living() const { return living_; }
  bool agreed() const { return !asking_; }

 private:
  const Round limit_;
  View view_;
  std::vector<Member> living_;
  uint32_t ballot_;
  bool asking_ = false;
  std::map<Member, Round> promised_;  // answers to this ballot
  std::optional<Decree> decree_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_AGREEMENT_H_
