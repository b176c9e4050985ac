#include "model/problem/gradient_meters.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/status.h"
#include "kernels/vector/norms.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<NormMeter>> NormMeter::Make(int64_t size,
                                                           const ComputeContext& context) {
  std::unique_ptr<NormMeter> meter(new NormMeter());
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

void NormMeter::Add(const float* vector, int64_t size) {
  if (stream_ == nullptr) {
    squares_.push_back(SquaredNorm(vector, size));
    return;
  }
  if (queued_ == kMostQueued) status_.Update(Collect());
  stream_->ComputeSquaredNorm(vector, size, workspace_.get(),
                              static_cast<double*>(norms_.get()) + queued_++);
}

absl::Status NormMeter::Collect() {
  const size_t count = std::exchange(queued_, 0);
  if (count == 0) return absl::OkStatus();
  stream_->Download(norms_.get(), static_cast<int64_t>(count * sizeof(double)), copies_.get());
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  const auto* const norms = static_cast<const double*>(copies_.get());
  squares_.insert(squares_.end(), norms, norms + count);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> NormMeter::Take() {
  status_.Update(Collect());
  std::vector<double> squares = std::exchange(squares_, {});
  RETURN_IF_ERROR(std::exchange(status_, absl::OkStatus()));
  return squares;
}

absl::StatusOr<std::unique_ptr<NoiseMeter>> NoiseMeter::Make(int64_t size,
                                                             const ComputeContext& context) {
  ASSIGN_OR_RETURN(std::unique_ptr<NormMeter> norms, NormMeter::Make(size, context));
  return std::unique_ptr<NoiseMeter>(new NoiseMeter(std::move(norms)));
}

void NoiseMeter::Add(Sum sum, const float* part, int64_t size) {
  if (size == 0) return;
  norms_->Add(part, size);
  added_.push_back(sum);
}

absl::StatusOr<GradientNoise> NoiseMeter::Take(int64_t passes, int64_t batch) {
  const std::vector<Sum> added = std::exchange(added_, {});
  ASSIGN_OR_RETURN(const std::vector<double> squares, norms_->Take());
  std::array<double, kSums> sums{};
  for (size_t i = 0; i < squares.size(); ++i) sums[added[i]] += squares[i];
  if (!std::isfinite(sums[kPasses]) || !std::isfinite(sums[kMean])) return GradientNoise{};
  return NoiseOf(sums[kPasses], sums[kMean], passes, batch);
}

}  // namespace grapevine
