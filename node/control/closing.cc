#include "node/control/closing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace grapevine {

Closing::Closing(std::set<Rank> workers, Round most, Round coasts)
    : workers_(std::move(workers)), most_(most), coasts_(std::min(coasts, most - 1)) {
  if (coasts_ > 0) told_ = coasts_;
}

absl::Status Closing::OnSpent(Rank rank, Round gradients, bool all) {
  const bool gives = workers_.contains(rank);
  if (!gives || gradients < 0 || gradients >= most_) {
    return absl::InvalidArgumentError(
        absl::StrCat("has given ", gradients, " gradients, its last, of ",
                     gives ? absl::StrCat("fewer than ", most_) : "none"));
  }
  // A number that was told before cannot change.
  spent_.emplace(rank, gradients);
  if (all && !ends_all_) {
    ends_all_ = true;
    told_ = coasts_;
  }
  Judge();
  return absl::OkStatus();
}

void Closing::OnProgress(Rank rank, Round completed, bool waits) {
  if (!workers_.contains(rank) || IsSpent(rank)) return;
  needed_ = std::max(needed_, std::min(std::min(completed, most_) + (waits ? 1 : 0), most_ - 1));
  Judge();
}

void Closing::Need(Round round) {
  agreed_ = std::max(agreed_, std::min(round, most_ - 1));
  needed_ = std::max(needed_, agreed_);
  Judge();
}

void Closing::NeedForView(Round round) {
  needed_ = std::max(needed_, std::min(round + 1, most_ - 1));
  Need(round);
}

void Closing::Lose(Rank rank) {
  workers_.erase(rank);
  spent_.erase(rank);
  Judge();
}

void Closing::TakeIn(Rank rank) {
  workers_.insert(rank);
  if (coasts_ > 0 || ends_all_) told_ = coasts_;
}

bool Closing::HoldsUp() const {
  return std::ranges::any_of(
      spent_, [this](const auto& entry) { return std::max(entry.second, coasts_) < needed_; });
}

void Closing::Judge() {
  if (closed_ || workers_.empty()) return;
  if (spent_.size() == workers_.size()) {
    Round rounds = std::max(coasts_, agreed_);
    for (const auto& [rank, gradients] : spent_) rounds = std::max(rounds, gradients);
    closed_ = true;
    rounds_ = told_ = rounds + 1;
    return;
  }
  if (!HoldsUp()) return;
  const Round ahead = needed_then_ == 0 ? 0 : 2 * (needed_ - needed_then_);
  needed_then_ = needed_;
  coasts_ = std::min(needed_ + std::min(ahead, kMostAhead), most_ - 1);
  told_ = coasts_;
}

}  // namespace grapevine
