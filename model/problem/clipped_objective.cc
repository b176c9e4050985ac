#include "model/problem/clipped_objective.h"

#include "base/status_macros.h"
#include "kernels/vector/clip_norm.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<ClippedObjective>> ClippedObjective::Make(
    std::unique_ptr<Objective> objective, double limit, const ComputeContext& context) {
  const int64_t doubles = ClipScratch(objective->layout().parameter_size);
  std::unique_ptr<ClippedObjective> clipped(new ClippedObjective(std::move(objective), limit));
  if (context.device == nullptr) return clipped;
  clipped->stream_ = context.stream;
  clipped->timeout_ = context.timeout;
  ASSIGN_OR_RETURN(clipped->scratch_, context.device->Allocate(doubles * int64_t{sizeof(double)},
                                                               "a gradient's norm"));
  return clipped;
}

absl::StatusOr<double> ClippedObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  ASSIGN_OR_RETURN(const double loss, Inside(replica, round, gradient));
  const int64_t size = layout().parameter_size;
  if (stream_ == nullptr) {
    CpuPasses().ClipNorm(gradient, size, limit_, nullptr);
    return loss;
  }
  stream_->ClipNorm(gradient, size, limit_, static_cast<double*>(scratch_.get()));
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  return loss;
}

}  // namespace grapevine
