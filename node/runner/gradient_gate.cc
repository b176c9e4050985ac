#include "node/runner/gradient_gate.h"

#include <glog/logging.h>

#include <utility>

namespace grapevine {

void GradientGate::Ask(GradientRequest request) {
  CHECK(!request_) << "a gradient of round " << request.round << " was asked for before that of "
                   << request_->round << " began";
  request_ = std::move(request);
  asked_after_ = unsent_.empty() ? SendId{} : unsent_.rbegin()->first;
}

void GradientGate::OnSent(SendId id) {
  CHECK_EQ(unsent_.erase(id), 1u) << "send " << id.id << " is not on its way";
}

std::optional<GradientRequest> GradientGate::Admit(bool model_held) {
  if (!request_) return std::nullopt;
  const bool lagging = !unsent_.empty() && Precedes(unsent_.begin()->first);
  if (model_held && lagging) return std::nullopt;
  return std::exchange(request_, std::nullopt);
}

std::set<Rank> GradientGate::WaitingFor() const {
  std::set<Rank> late;
  for (const auto& [id, to] : unsent_) {
    if (Precedes(id)) late.insert(to);
  }
  return late;
}

}  // namespace grapevine
