#include "model/problem/noise_meter.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "base/status_macros.h"

namespace grapevine {

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
