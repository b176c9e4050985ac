#include "model/problem/host_objective.h"

#include <utility>

#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr int64_t kElement = sizeof(float);

}  // namespace

absl::StatusOr<std::unique_ptr<HostObjective>> HostObjective::Make(
    std::unique_ptr<Objective> objective, const ComputeContext& context) {
  const int64_t bytes = 2 * objective->layout().size * kElement;
  ASSIGN_OR_RETURN(std::shared_ptr<void> memory,
                   context.device->AllocatePinned(bytes, "a replica and a gradient on the CPU"));
  return std::unique_ptr<HostObjective>(
      new HostObjective(std::move(objective), context, std::move(memory)));
}

HostObjective::HostObjective(std::unique_ptr<Objective> objective, const ComputeContext& context,
                             std::shared_ptr<void> memory)
    : objective_(std::move(objective)),
      stream_(context.stream),
      timeout_(context.timeout),
      memory_(std::move(memory)),
      replica_(static_cast<float*>(memory_.get())),
      gradient_(replica_ + objective_->layout().size) {}

absl::StatusOr<double> HostObjective::GradientInParts(const float* replica, int64_t round,
                                                      float* gradient,
                                                      const FinalFrom& final_from) {
  stream_->Download(replica, layout().size * kElement, replica_);
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  int64_t end = layout().size;
  const auto upload_from = [&](int64_t from) {
    stream_->Upload(gradient_ + from, (end - from) * kElement, gradient + from);
    end = from;
  };
  ASSIGN_OR_RETURN(const double loss,
                   objective_->GradientInParts(replica_, round, gradient_, [&](int64_t from) {
                     upload_from(from);
                     final_from(from);
                   }));
  upload_from(0);
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  return loss;
}

}  // namespace grapevine
