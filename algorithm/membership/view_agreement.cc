#include "algorithm/membership/view_agreement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace grapevine {

void ViewAgreement::Lose(Member member) {
  if (std::erase(living_, member) == 0) return;
  asking_ = !living_.empty();
  promised_.clear();
  ++ballot_;
  decree_.reset();
  if (asking_) decree_ = Prepare{ballot_};
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
  if (promised_.size() < living_.size()) return absl::OkStatus();
  const Round latest = std::ranges::max_element(promised_, {}, [](const auto& answer) {
                         return answer.second;
                       })->second;
  view_ = {.epoch = view_.epoch + 1,
           .from = std::max(view_.from, latest + 1),
           .members = living_,
           .ballot = ballot_};
  asking_ = false;
  decree_ = view_;
  return absl::OkStatus();
}

}  // namespace grapevine
