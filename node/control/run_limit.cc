#include "node/control/run_limit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

RunLimit::RunLimit(const Options& options, Members* members)
    : options_(options), members_(*members), limit_(options.limit) {
  if (options_.budget) desk_.emplace(*options_.budget);
}

void RunLimit::Start(std::vector<control::RoundLimit> settled, std::set<Rank> workers) {
  begun_ = true;
  settled_ = std::move(settled);
  if (desk_) desk_->Extend(limit_, /*final=*/false);
  BeginClosing(std::move(workers), /*coasts=*/0);
}

void RunLimit::TakeOver(const control::RoundLimit& told) {
  begun_ = true;
  limit_ = told.limit();
  final_ = told.final();
  if (told.growth() > 0) settled_.push_back(told);
}

void RunLimit::BeginClosing(std::set<Rank> workers, Round coasts) {
  if (!options_.open_ended) return;
  closing_.emplace(std::move(workers), options_.limit, coasts);
  if (limit_ < options_.limit) closing_->SetClosed(limit_);
}

bool RunLimit::Extend(Round limit, bool final) {
  if (limit < limit_ || (limit == limit_ && !final)) return false;
  limit_ = limit;
  final_ = final;
  if (begun_ && desk_) desk_->Extend(limit, final);
  return true;
}

bool RunLimit::AllDone() const {
  return std::ranges::all_of(members_, [this](const auto& entry) { return IsDone(entry.first); });
}

void RunLimit::Tell(int64_t growth) { desk_ ? SendLimits() : TellLimit(growth); }

void RunLimit::TellLimit(int64_t growth) {
  control::Directive directive;
  control::RoundLimit& limit = *directive.mutable_round_limit();
  limit.set_limit(limit_);
  limit.set_final(final_);
  limit.set_growth(growth);
  if (growth > 0) settled_.push_back(limit);
  members_.TellAll(directive);
}

void RunLimit::SendLimits() {
  if (!desk_) return;
  for (auto& [rank, directive] : desk_->Take()) members_.Tell(rank, std::move(directive));
}

absl::Status RunLimit::OnSteps(Rank rank, const control::Steps& steps) {
  if (!desk_) {
    return absl::InvalidArgumentError("reports steps, where all nodes do the same rounds");
  }
  absl::Status taken = desk_->OnSteps(rank, steps);
  if (taken.ok()) SendLimits();
  return taken;
}

absl::Status RunLimit::OnSpent(Rank rank, const control::Spent& spent) {
  if (closing_) return closing_->OnSpent(rank, spent.gradients(), spent.all());
  return absl::InvalidArgumentError(absl::StrCat("ends after ", spent.gradients(),
                                                 " gradients, which the run does not wait for"));
}

void RunLimit::OnProgress(Rank rank, const control::Heartbeat& heartbeat) {
  if (!closing_) return;
  closing_->OnProgress(rank, heartbeat.round(), heartbeat.waiting_for_size() > 0);
}

void RunLimit::Leave(Rank rank) {
  if (desk_) desk_->Leave(rank);
  if (closing_) closing_->Lose(rank);
}

void RunLimit::TakeIn(Rank rank) {
  if (closing_) closing_->TakeIn(rank);
}

void RunLimit::Need(Round round) {
  if (closing_) closing_->Need(round);
}

void RunLimit::NeedForView(Round round) {
  if (closing_) closing_->NeedForView(round);
}

void RunLimit::Hold(bool held) {
  if (!desk_) return;
  desk_->Hold(held);
  SendLimits();
}

bool RunLimit::Close() {
  if (!closing_) return false;
  const std::optional<Round> rounds = closing_->TakeRounds();
  if (!rounds) return false;
  limit_ = *rounds;
  final_ = !options_.settles_last;
  return true;
}

void RunLimit::TellCoast() {
  if (!closing_) return;
  const std::optional<Round> coast = closing_->TakeCoast();
  if (!coast) return;
  control::Directive directive;
  directive.mutable_coast()->set_below(*coast);
  directive.mutable_coast()->set_all(closing_->ends_all());
  members_.TellAll(directive);
}

std::string RunLimit::NotDone(Rank rank, Round limit) const {
  if (!desk_) {
    return limit == limit_ ? "" : absl::StrCat(" rounds, where the run has ", limit_);
  }
  if (!desk_->over()) return " steps, before the run is over";
  return desk_->EndsAt(rank, limit) ? "" : " steps, which is not its limit";
}

bool RunLimit::MeasuresTheEnd(Round begun) const {
  return desk_ ? desk_->passed() == limit_ : begun >= limit_;
}

}  // namespace grapevine
