// Measures the noise of gradients that are means over passes (base/gradient_noise.h), where they
// are computed.
#ifndef GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_
#define GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/gradient_noise.h"
#include "model/network/compute_context.h"
#include "model/problem/norm_meter.h"

namespace grapevine {

// Thread-compatible. One gradient at a time: its passes and its mean are added, in any number of
// parts, and taken; what waits for a device, and when, is as in NormMeter.
class NoiseMeter {
 public:
  // As NormMeter::Make.
  static absl::StatusOr<std::unique_ptr<NoiseMeter>> Make(int64_t size,
                                                          const ComputeContext& context);

  // A part of a pass's gradient, or of the mean over all of them.
  void AddPass(const float* part, int64_t size) { Add(kPasses, part, size); }
  void AddMean(const float* part, int64_t size) { Add(kMean, part, size); }

  // The noise of what was added since the last call: of `passes` gradients, at least two, of
  // `batch` samples each; none if one of them is not finite. The device's error, if it failed.
  absl::StatusOr<GradientNoise> Take(int64_t passes, int64_t batch);

 private:
  enum Sum { kPasses, kMean, kSums };

  explicit NoiseMeter(std::unique_ptr<NormMeter> norms) : norms_(std::move(norms)) {}
  void Add(Sum sum, const float* part, int64_t size);

  const std::unique_ptr<NormMeter> norms_;
  std::vector<Sum> added_;  // which sum each of them belongs to
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_
