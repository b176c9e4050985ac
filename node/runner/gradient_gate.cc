#include "node/runner/gradient_gate.h"

#include <glog/logging.h>

#include <utility>

namespace grapevine {

void GradientGate::Ask(GradientRequest request) {
  CHECK(!request_) << "a gradient of round " << request.round << " was asked for before that of "
                   << request_->round << " began";
  request_ = std::move(request);
}

void GradientGate::OnSent(Rank to, Round round) {
  const auto entry = unsent_.find({round, to});
  CHECK(entry != unsent_.end()) << "no message of round " << round << " is on its way to rank "
                                << to;
  if (--entry->second == 0) unsent_.erase(entry);
}

std::optional<GradientRequest> GradientGate::Admit(bool model_held) {
  if (!request_) return std::nullopt;
  const bool lagging = !unsent_.empty() && unsent_.begin()->first.first < request_->round;
  if (model_held && lagging) return std::nullopt;
  return std::exchange(request_, std::nullopt);
}

std::set<Rank> GradientGate::WaitingFor() const {
  std::set<Rank> late;
  if (!request_) return late;
  for (const auto& [message, count] : unsent_) {
    if (message.first < request_->round) late.insert(message.second);
  }
  return late;
}

}  // namespace grapevine
