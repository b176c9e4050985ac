#include "node/control/checkpoint_calls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace grapevine {

CheckpointCalls::CheckpointCalls(CheckpointCallsOptions options, SteadyTime now)
    : options_(options),
      rounds_(options.rounds),
      now_(now),
      last_(now),
      named_(options.begin),
      complete_(options.begin) {}

void CheckpointCalls::OnTime(SteadyTime now) {
  now_ = now;
  if (options_.every && now_ - last_ >= *options_.every && complete_ >= named_) Ask();
}

void CheckpointCalls::Demand() { Ask(); }

void CheckpointCalls::Ask() {
  if (asking_ || over_) return;
  asking_ = true;
  promised_.clear();
  directive_.emplace().mutable_prepare()->set_ballot(++ballot_);
}

absl::Status CheckpointCalls::OnPromise(Rank rank, const control::Promise& promise) {
  if (promise.ballot() > ballot_ || promise.round() < -1 || promise.round() >= rounds_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "promises round ", promise.round(), " under ballot ", promise.ballot(),
        ", where the last ballot is ", ballot_, " and the run has ", rounds_, " rounds"));
  }
  if (!asking_ || promise.ballot() < ballot_) return absl::OkStatus();  // it came again
  promised_.emplace(rank, promise.round());
  if (static_cast<Rank>(promised_.size()) == options_.nodes) Name();
  return absl::OkStatus();
}

void CheckpointCalls::Name() {
  asking_ = false;
  // Some node may have completed this many rounds; a round that was named earlier may be still to
  // come.
  Round most = std::max(options_.begin, named_);
  for (const auto& [rank, round] : promised_) most = std::max(most, round + 1);
  control::CheckpointAt& at = *directive_.emplace().mutable_checkpoint_at();
  at.set_ballot(ballot_);
  // A run cannot go on from its last round.
  over_ = most + 1 >= rounds_;
  if (over_) return;
  named_ = most + 1;
  last_ = now_;
  at.set_round(named_);
}

void CheckpointCalls::OnComplete(Round round) { complete_ = std::max(complete_, round); }

}  // namespace grapevine
