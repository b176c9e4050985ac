#include "algorithm/membership/view_agreement.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

void ViewAgreement::Ask() {
  promised_.clear();
  ++ballot_;
  coming_.clear();
  std::ranges::copy_if(waiting_, std::inserter(coming_, coming_.end()),
                       [this](Member member) { return !view_.RankOf(member); });
  asking_ = !living_.empty();
  decree_.reset();
  if (asking_) decree_ = Prepare{ballot_};
}

void ViewAgreement::Lose(Member member) {
  waiting_.erase(member);
  coming_.erase(member);
  if (std::erase(living_, member) > 0) Ask();
}

void ViewAgreement::Admit(Member member) {
  if (std::ranges::binary_search(living_, member) || !waiting_.insert(member).second) return;
  if (!asking_) Ask();
}

void ViewAgreement::Renew(Round checkpoint) {
  checkpoint_ = checkpoint;
  if (!asking_) Ask();
}

Round ViewAgreement::Next() const {
  Round next = view_.from;
  for (const auto& [member, round] : promised_) next = std::max(next, round + 1);
  return next;
}

bool ViewAgreement::Lacks() const {
  return living_ == view_.members && living_.size() + coming_.size() < least_ && Next() < limit_;
}

void ViewAgreement::Agree() {
  const Round from = Next();
  if (from >= limit_) {
    declined_.insert(declined_.end(), coming_.begin(), coming_.end());
    for (const Member member : std::exchange(coming_, {})) waiting_.erase(member);
  }
  view_ = {.epoch = view_.epoch + 1,
           .from = from,
           .members = living_,
           .ballot = ballot_,
           .newcomers = {coming_.begin(), coming_.end()},
           .checkpoint = std::exchange(checkpoint_, 0)};
  for (const Member member : std::exchange(coming_, {})) {
    waiting_.erase(member);
    view_.members.insert(std::ranges::upper_bound(view_.members, member), member);
  }
  living_ = view_.members;
  asking_ = false;
  decree_ = view_;
}

absl::Status ViewAgreement::OnPromise(Member member, uint32_t ballot, Round round) {
  if (ballot > ballot_ || round < -1 || round >= limit_) {
    return absl::InvalidArgumentError(absl::StrCat("answers ballot ", ballot, " with round ", round,
                                                   ", where the last ballot is ", ballot_,
                                                   " and the run has ", limit_, " rounds"));
  }
  if (!asking_ || ballot < ballot_ || !std::ranges::binary_search(living_, member)) {
    return absl::OkStatus();
  }
  const auto [answer, first] = promised_.emplace(member, round);
  if (!first && answer->second != round) {
    return absl::InvalidArgumentError(absl::StrCat("answers ballot ", ballot, " with round ", round,
                                                   " and with round ", answer->second));
  }
  if (Answered() && !Lacks()) Agree();
  return absl::OkStatus();
}

// Members that waited for others go on if no round is left to go through with them.
void ViewAgreement::Close(Round limit) {
  limit_ = limit;
  if (asking_ && Answered() && !Lacks()) Agree();
}

// A node that has waited for a view without itself may come in with the one after that.
bool ViewAgreement::MustAsk() const {
  if (living_.empty()) return false;
  if (asking_) return waits() && waiting_.size() > coming_.size();
  return !waiting_.empty() || (living_.size() < least_ && view_.from < limit_);
}

std::optional<ViewAgreement::Decree> ViewAgreement::Take() {
  if (!decree_ && MustAsk()) Ask();
  return std::exchange(decree_, std::nullopt);
}

}  // namespace grapevine
