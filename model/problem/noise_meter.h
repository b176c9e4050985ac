// Measures the noise of gradients that are means over passes (base/gradient_noise.h), where they
// are computed.
#ifndef GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_
#define GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/gradient_noise.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"

namespace grapevine {

// Thread-compatible. One gradient at a time: its passes and its mean are added, in any number of
// parts, and taken. On a device norms are queued on the stream of the gradients, behind what wrote
// them, and wait there: nothing else waits for them before Take, but when there are very many.
class NoiseMeter {
 public:
  // For vectors of at most `size` elements, where `context` computes. ResourceExhausted where its
  // device has no memory for the norms.
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
  static constexpr size_t kMostQueued = 64;

  NoiseMeter() = default;
  void Add(Sum sum, const float* part, int64_t size);
  // Adds what was queued to the sums.
  absl::Status Collect();

  std::array<double, kSums> sums_{};

  // Null on the CPU, which needs nothing of the following either.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> norms_;  // the device's: queued ones
  std::shared_ptr<void> workspace_;
  std::shared_ptr<void> copies_;  // pinned: of the norms
  std::array<Sum, kMostQueued> queued_{};
  size_t count_ = 0;  // of them
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NOISE_METER_H_
