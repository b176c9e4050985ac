#include "model/problem/network_objective.h"

#include <utility>

#include "base/status_macros.h"

namespace grapevine {

NetworkObjective::NetworkObjective(std::shared_ptr<Network> network,
                                   std::unique_ptr<BatchSource> batches, uint64_t seed)
    : network_(std::move(network)), batches_(std::move(batches)), seed_(seed) {}

absl::StatusOr<double> NetworkObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  RETURN_IF_ERROR(batches_->Fill(round, &batch_));
  return network_->Gradient(replica, batch_, gradient);
}

absl::StatusOr<double> NetworkObjective::GradientInParts(const float* replica, int64_t round,
                                                         float* gradient,
                                                         const FinalFrom& final_from) {
  RETURN_IF_ERROR(batches_->Fill(round, &batch_));
  return network_->GradientInParts(replica, batch_, gradient, final_from);
}

}  // namespace grapevine
