#include "node/control/checkpoint_desk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/status_macros.h"

namespace grapevine {
CheckpointDesk::CheckpointDesk(CheckpointDeskOptions options)
    : options_(std::move(options)),
      last_(options_.nodes, options_.begin),
      measured_(options_.begin) {}

absl::Status CheckpointDesk::OnPart(Rank rank, const control::SavedPart& part) {
  RETURN_IF_ERROR(CheckPart(rank, part));
  last_[rank] = part.round();
  auto& parts = open_[part.round()];
  parts[rank] = part;
  if (static_cast<Rank>(parts.size()) < options_.nodes) {
    if (open_.size() > kMaxOpen) open_.erase(open_.begin());
    return absl::OkStatus();
  }
  Complete& complete = waiting_.emplace_back(Complete{.round = part.round(), .parts = {}});
  if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  for (auto& [from, its] : parts) complete.parts.push_back(std::move(its));
  open_.erase(open_.begin(), open_.upper_bound(part.round()));
  called_.erase(called_.begin(), called_.upper_bound(part.round()));
  return absl::OkStatus();
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
      !CanBeCounted(part.bytes_received()) || !CanBeCounted(part.time_ns())) {
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
