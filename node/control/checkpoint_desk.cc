#include "node/control/checkpoint_desk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {

CheckpointDesk::CheckpointDesk(CheckpointDeskOptions options)
    : options_(std::move(options)),
      last_(options_.nodes, options_.begin),
      begun_(options_.nodes, options_.begin),
      measured_(options_.begin) {}

absl::Status CheckpointDesk::OnPart(Rank rank, const control::SavedPart& part) {
  if (lost_.contains(rank)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPart(rank, part));
  last_[rank] = part.round();
  if (part.round() <= inherited_) return absl::OkStatus();
  auto& parts = open_[part.round()];
  parts[rank] = part;
  if (HasAll(part.round(), parts)) {
    Finish(part.round());
  } else if (open_.size() > kMaxOpen) {
    open_.erase(open_.begin());
  }
  return absl::OkStatus();
}

void CheckpointDesk::Finish(Round round) {
  waiting_.push_back({.round = round, .parts = std::move(open_.at(round)), .changed = changed_});
  if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  open_.erase(open_.begin(), open_.upper_bound(round));
  called_.erase(called_.begin(), called_.upper_bound(round));
}

void CheckpointDesk::OnLost(Rank rank) {
  lost_.insert(rank);
  changed_ = true;
  std::vector<Round> complete;
  for (auto& [round, parts] : open_) {
    parts.erase(rank);
    if (HasAll(round, parts)) complete.push_back(round);
  }
  for (const Round round : complete) Finish(round);
}

void CheckpointDesk::OnNewcomer(Rank rank, Round from) {
  lost_.erase(rank);
  last_[rank] = begun_[rank] = from;
}

// A process has parts of the checkpoints after its first round.
bool CheckpointDesk::HasAll(Round round, const std::map<Rank, control::SavedPart>& parts) const {
  Rank expected = 0;
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    expected += !lost_.contains(rank) && begun_[rank] < round;
  }
  return !parts.empty() && static_cast<Rank>(parts.size()) == expected;
}

absl::Status CheckpointDesk::CheckPart(Rank rank, const control::SavedPart& part) const {
  const auto cannot_be = [rank, &part](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank, " reported its part of the checkpoint of round ", part.round(), why));
  };
  if (part.round() <= last_[rank]) return cannot_be(absl::StrCat(" after that of ", last_[rank]));
  if (part.round() > options_.rounds || !Saved(part.round())) {
    return cannot_be(", of which there is none");
  }
  if (part.bytes() <= 0 || !CanBeCounted(part.bytes()) || !CanBeCounted(part.bytes_sent()) ||
      !CanBeCounted(part.bytes_received()) || !CanBeCounted(part.time_ns()) || part.steps() < 0 ||
      part.steps() > options_.rounds * options_.nodes) {
    return cannot_be(absl::StrCat(", which cannot be: ", part.ShortDebugString()));
  }
  return absl::OkStatus();
}

bool CheckpointDesk::Saved(Round round) const {
  return called_.contains(round) || (options_.saved && options_.saved(round));
}

void CheckpointDesk::OnMeasured(Round round) { measured_ = std::max(measured_, round); }

bool CheckpointDesk::MayComplete(Round round) const {
  if (end_ && round >= *end_) return false;
  for (Round evaluated = round; evaluated > measured_; --evaluated) {
    if (options_.evaluated(evaluated)) return false;
  }
  return true;
}

std::optional<CheckpointDesk::Complete> CheckpointDesk::Take() {
  if (!ready()) return std::nullopt;
  Complete complete = std::move(waiting_.front());
  waiting_.pop_front();
  return complete;
}

}  // namespace grapevine
