#include "sim/engine/round_collector.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace grapevine {

RoundCollector::RoundCollector(Options options, Emit emit)
    : options_(std::move(options)),
      emit_(std::move(emit)),
      living_(options_.nodes),
      gradients_(options_.nodes) {}

void RoundCollector::OnGradient(Rank rank, double loss, int64_t passes,
                                const GradientNoise& noise) {
  Gradients& gradients = gradients_[rank];
  gradients.loss_sum += loss * static_cast<double>(passes);
  gradients.passes += passes;
  gradients.noise += noise;
}

absl::Status RoundCollector::OnBoundary(Rank rank, Round completed, Nanoseconds now,
                                        int64_t bytes_sent, const SharedVector& model) {
  if (!options_.measured(completed)) return absl::OkStatus();
  const auto [at, first] = open_.try_emplace(completed);
  Open& open = at->second;
  MeasuredRound& measured = open.measured;
  if (first) measured.bytes_sent = BytesOfOthers(completed);
  const Gradients gradients = std::exchange(gradients_[rank], {});
  measured.completed = completed;
  measured.time = std::max(measured.time, now);
  measured.loss_sum += gradients.loss_sum;
  measured.passes += gradients.passes;
  measured.noise += gradients.noise;
  measured.bytes_sent += bytes_sent;
  if (model.data) {
    measured.models.resize(options_.nodes);
    measured.models[rank] = model;
  }
  open.nodes.insert(rank);
  return EmitComplete();
}

absl::Status RoundCollector::Lose(Rank rank, int64_t bytes_sent) {
  --living_;
  const auto newcomer = newcomers_.extract(rank);
  const Round from = newcomer ? newcomer.mapped().from : -1;
  lost_[rank] = bytes_sent;
  for (auto& [completed, open] : open_) {
    const bool counted = open.nodes.erase(rank) > 0 || completed <= from;
    if (!counted) open.measured.bytes_sent += bytes_sent;
    if (!open.measured.models.empty()) open.measured.models[rank] = {};
  }
  return EmitComplete();
}

void RoundCollector::TakeIn(Rank rank, Round from) {
  ++living_;
  gradients_[rank] = {};
  newcomers_[rank] = {from, lost_.at(rank)};
  lost_.erase(rank);
}

int64_t RoundCollector::BytesOfOthers(Round completed) const {
  int64_t bytes = 0;
  for (const auto& [rank, sent] : lost_) bytes += sent;
  for (const auto& [rank, newcomer] : newcomers_) {
    if (newcomer.from >= completed) bytes += newcomer.bytes_sent;
  }
  return bytes;
}

Rank RoundCollector::NodesIn(Round completed) const {
  return living_ - static_cast<Rank>(std::ranges::count_if(newcomers_, [&](const auto& entry) {
           return entry.second.from >= completed;
         }));
}

absl::Status RoundCollector::EmitComplete() {
  // A node does its rounds in order, so the oldest open round completes first.
  while (!open_.empty()) {
    const auto oldest = open_.begin();
    const Round completed = oldest->first;
    const Rank nodes = NodesIn(completed);
    if (static_cast<Rank>(oldest->second.nodes.size()) < nodes) break;
    MeasuredRound measured = std::move(open_.extract(oldest).mapped().measured);
    measured.living = nodes;
    measured.time = last_ = std::max(last_, measured.time);
    std::erase_if(newcomers_, [&](const auto& entry) { return entry.second.from < completed; });
    RETURN_IF_ERROR(emit_(measured));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
