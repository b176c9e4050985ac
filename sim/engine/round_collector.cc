#include "sim/engine/round_collector.h"

#include <algorithm>
#include <utility>

namespace grapevine {

RoundCollector::RoundCollector(Options options, Emit emit)
    : options_(std::move(options)), emit_(std::move(emit)), losses_(options_.nodes) {}

void RoundCollector::OnGradient(Rank rank, double loss) {
  losses_[rank].sum += loss;
  ++losses_[rank].gradients;
}

absl::Status RoundCollector::OnBoundary(Rank rank, Round completed, Nanoseconds now,
                                        int64_t bytes_sent, const SharedVector& model) {
  if (!options_.measured(completed)) return absl::OkStatus();
  Open& open = open_[completed];
  MeasuredRound& measured = open.measured;
  const Losses losses = std::exchange(losses_[rank], {});
  measured.completed = completed;
  measured.time = std::max(measured.time, now);
  measured.loss_sum += losses.sum;
  measured.gradients += losses.gradients;
  measured.bytes_sent += bytes_sent;
  if (model.data) {
    measured.models.resize(options_.nodes);
    measured.models[rank] = model;
  }
  if (++open.nodes < options_.nodes) return absl::OkStatus();
  // A node does its rounds in order, so the oldest open round completes first.
  const auto complete = open_.extract(completed);
  return emit_(complete.mapped().measured);
}

}  // namespace grapevine
