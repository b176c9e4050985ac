#include "node/control/budget_desk.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

BudgetDesk::BudgetDesk(BudgetDeskOptions options)
    : options_(std::move(options)),
      budget_(options_.workers, options_.window, options_.done),
      nodes_(options_.nodes, {.taken = options_.begin}),
      passed_(options_.begin),
      last_cut_(options_.begin),
      evaluated_cut_(options_.begin) {}

void BudgetDesk::Extend(Round rounds, bool final) {
  end_ = std::max(end_, rounds);
  settled_ = settled_ || final || (end_ >= options_.rounds && !options_.settles_last);
  for (const Rank rank : budget_.Extend(end_ * options_.workers)) TellLimit(rank);
  for (Rank server = options_.workers; server < options_.nodes; ++server) TellLimit(server);
  Advance();
}

absl::Status BudgetDesk::OnSteps(Rank rank, const control::Steps& report) {
  RETURN_IF_ERROR(CheckCut(rank, report.cut()));
  if (rank < options_.workers) {
    ASSIGN_OR_RETURN(const bool moved, budget_.OnSteps(rank, report.steps()));
    if (moved) TellLimit(rank);
    nodes_[rank].rested = report.resting() && report.steps() == budget_.limit(rank);
  }
  nodes_[rank].taken = report.cut();
  Advance();
  return absl::OkStatus();
}

void BudgetDesk::Leave(Rank rank) {
  nodes_[rank].left = true;
  if (rank < options_.workers) {
    for (const Rank moved : budget_.Leave(rank)) TellLimit(moved);
  }
  Hold(true);
}

void BudgetDesk::Hold(bool held) {
  held_ = held;
  Advance();
}

absl::Status BudgetDesk::CheckCut(Rank rank, Round cut) const {
  if (cut < nodes_[rank].taken) {
    return absl::InvalidArgumentError(
        absl::StrCat("says that it has measured round ", cut, ", after ", nodes_[rank].taken));
  }
  if (cut > last_cut_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "says that it has measured round ", cut, ", where the last to be measured is ", last_cut_));
  }
  return absl::OkStatus();
}

bool BudgetDesk::EndsAt(Rank rank, Round steps) const {
  return rank >= options_.workers || steps == budget_.limit(rank);
}

void BudgetDesk::Advance() {
  if (held_) return;
  // The steps that nodes have done before may go beyond the end that is known so far.
  while (passed_ < std::min(end_, budget_.steps() / options_.workers)) {
    if (!MayPass(passed_ + 1)) return;
    ++passed_;
    if (options_.measured(passed_)) Cut(passed_);
  }
  if (over_ || !settled_ || passed_ < end_ || !AllRested()) return;
  over_ = true;
  for (Rank rank = 0; rank < options_.nodes; ++rank) TellLimit(rank);
}

bool BudgetDesk::MayPass(Round round) {
  if (round == end_ && !AllRested()) return false;
  if (options_.evaluated(round) && !AllTook(evaluated_cut_)) return false;
  if (!options_.measured(round) || std::ssize(open_) < kMaxOpen) return true;
  while (!open_.empty() && AllTook(open_.front())) open_.pop_front();
  return std::ssize(open_) < kMaxOpen;
}

void BudgetDesk::Cut(Round round) {
  last_cut_ = round;
  open_.push_back(round);
  if (options_.evaluated(round)) evaluated_cut_ = round;
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    if (nodes_[rank].left) continue;
    directives_.emplace_back(rank, control::Directive());
    directives_.back().second.mutable_cut()->set_round(round);
  }
}

// All nodes have taken the cuts that are no longer open.
bool BudgetDesk::Measured(Round round) const {
  const auto last = std::ranges::find_if(open_.rbegin(), open_.rend(),
                                         [round](Round cut) { return cut <= round; });
  return last == open_.rend() || AllTook(*last);
}

bool BudgetDesk::AllTook(Round cut) const {
  return std::ranges::all_of(nodes_,
                             [cut](const Node& node) { return node.left || node.taken >= cut; });
}

bool BudgetDesk::AllRested() const {
  return std::all_of(nodes_.begin(), nodes_.begin() + options_.workers,
                     [](const Node& worker) { return worker.left || worker.rested; });
}

void BudgetDesk::TellLimit(Rank rank) {
  if (nodes_[rank].left) return;
  directives_.emplace_back(rank, control::Directive());
  control::RoundLimit* const limit = directives_.back().second.mutable_round_limit();
  limit->set_limit(rank < options_.workers ? budget_.limit(rank) : budget_.total());
  limit->set_final(over_);
}

}  // namespace grapevine
