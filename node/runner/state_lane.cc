#include "node/runner/state_lane.h"

#include <utility>

namespace grapevine {

StateSaver& StateLane::Begin(Round completed, Vec model, SavedNode counted, StateSaver::Copy copy) {
  Open& open = open_.emplace_back();
  open.counted = std::move(counted);
  open.saver = std::make_unique<StateSaver>(completed, model, std::move(copy));
  return *open.saver;
}

void StateLane::OnReceived(const Received& event) {
  for (Open& open : open_) open.saver->OnReceived(event);
}

void StateLane::OnLost(const Lost& event) {
  for (Open& open : open_) open.saver->OnLost(event);
}

std::optional<SavedNode> StateLane::Take() {
  if (out_ || open_.empty() || !open_.front().saver->complete()) return std::nullopt;
  out_ = true;
  SavedNode saved = std::move(open_.front().counted);
  saved.state = open_.front().saver->state();
  open_.pop_front();
  return saved;
}

}  // namespace grapevine
