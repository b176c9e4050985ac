#include "model/problem/noise_meter.h"

#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "kernels/vector/tensor_norms.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<NoiseMeter>> NoiseMeter::Make(int64_t size,
                                                             const ComputeContext& context) {
  std::unique_ptr<NoiseMeter> meter(new NoiseMeter());
  if (context.device == nullptr) return meter;
  meter->stream_ = context.stream;
  meter->timeout_ = context.timeout;
  constexpr auto kBytes = static_cast<int64_t>(kMostQueued * sizeof(double));
  constexpr char kWhat[] = "the norms of gradients";
  ASSIGN_OR_RETURN(meter->norms_, context.device->Allocate(kBytes, kWhat));
  ASSIGN_OR_RETURN(meter->workspace_,
                   context.device->Allocate(context.stream->NormWorkspace(size), kWhat));
  ASSIGN_OR_RETURN(meter->copies_, context.device->AllocatePinned(kBytes, kWhat));
  return meter;
}

void NoiseMeter::Add(Sum sum, const float* part, int64_t size) {
  if (size == 0) return;
  if (stream_ == nullptr) {
    sums_[sum] += SquaredNorm(part, size);
    return;
  }
  if (count_ == kMostQueued) status_.Update(Collect());
  stream_->ComputeSquaredNorm(part, size, workspace_.get(),
                              static_cast<double*>(norms_.get()) + count_);
  queued_[count_++] = sum;
}

absl::Status NoiseMeter::Collect() {
  const size_t count = std::exchange(count_, 0);
  if (count == 0) return absl::OkStatus();
  stream_->Download(norms_.get(), static_cast<int64_t>(count * sizeof(double)), copies_.get());
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  const auto* const norms = static_cast<const double*>(copies_.get());
  for (size_t i = 0; i < count; ++i) sums_[queued_[i]] += norms[i];
  return absl::OkStatus();
}

absl::StatusOr<GradientNoise> NoiseMeter::Take(int64_t passes, int64_t batch) {
  status_.Update(Collect());
  const auto [of_passes, of_mean] = std::exchange(sums_, {});
  RETURN_IF_ERROR(std::exchange(status_, absl::OkStatus()));
  if (!std::isfinite(of_passes) || !std::isfinite(of_mean)) return GradientNoise{};
  return NoiseOf(of_passes, of_mean, passes, batch);
}

}  // namespace grapevine
