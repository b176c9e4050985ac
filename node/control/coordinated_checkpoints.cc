#include "node/control/coordinated_checkpoints.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

CoordinatedCheckpoints::CoordinatedCheckpoints(Options options, const RunLimit& end,
                                               Members* members)
    : options_(std::move(options)), end_(end), members_(*members) {}

void CoordinatedCheckpoints::Begin(SteadyTime now) {
  if (options_.calls) calls_.emplace(*options_.calls, now);
  if (options_.renewals) renewals_.emplace(*options_.renewals, now);
}

void CoordinatedCheckpoints::OnTime(SteadyTime now) {
  if (calls_) calls_->OnTime(now);
  if (renewals_) renewals_->OnTime(now);
}

absl::Status CoordinatedCheckpoints::OnPromise(Rank rank, const control::Promise& promise) {
  return calls_->OnPromise(rank, promise);
}

std::optional<Blame> CoordinatedCheckpoints::OnComplete(Round round) {
  if (calls_) calls_->OnComplete(round);
  if (renewals_) renewals_->OnComplete(round);
  if (!stop_ || !stop_->with || round < *stop_->with) return std::nullopt;
  return Blame{
      stop_->why.culprit, stop_->why.failure,
      absl::StrCat("the checkpoint of round ", round, " is complete; ", stop_->why.message)};
}

void CoordinatedCheckpoints::Close() {
  if (calls_) calls_->Close(end_.limit());
}

void CoordinatedCheckpoints::EndWithNext(Blame why) {
  if (stop_) return;
  stop_ = Stop{.why = std::move(why)};
  if (calls_ ? calls_->over() : BudgetIsSpent()) return NoteLastRounds();
  notices_.push_back(absl::StrCat("the run ends with its next checkpoint; ", stop_->why.message));
  if (calls_) return calls_->Demand();
  stop_->with = renewals_->under_way();
  renewals_->Demand();
}

std::optional<Round> CoordinatedCheckpoints::Call() {
  const std::optional<control::Directive> directive = calls_ ? calls_->Take() : std::nullopt;
  if (!directive) return std::nullopt;
  members_.TellAll(*directive);
  if (directive->has_prepare()) return std::nullopt;
  if (directive->checkpoint_at().has_round()) return Name(directive->checkpoint_at().round());
  if (stop_) NoteLastRounds();
  return std::nullopt;
}

std::optional<Round> CoordinatedCheckpoints::Renew() {
  if (!renewals_) return std::nullopt;
  renewals_->OnPassed(end_.desk().passed());
  const std::optional<Round> due = renewals_->due();
  // There is no going on from the end.
  if (!due || BudgetIsSpent() || !end_.desk().Measured(*due)) return std::nullopt;
  renewals_->Name();
  return Name(*due);
}

Round CoordinatedCheckpoints::Name(Round round) {
  if (stop_ && !stop_->with) stop_->with = round;
  return round;
}

void CoordinatedCheckpoints::NoteLastRounds() {
  notices_.push_back(absl::StrCat("the run's last rounds are under way, and it comes to its end; ",
                                  stop_->why.message));
}

}  // namespace grapevine
