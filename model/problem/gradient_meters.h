// Measures norms of vectors where gradients are computed, on the CPU or on a device.
#ifndef GRAPEVINE_MODEL_PROBLEM_GRADIENT_METERS_H_
#define GRAPEVINE_MODEL_PROBLEM_GRADIENT_METERS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/gradient.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"

namespace grapevine {

// Thread-compatible. Vectors are added, in any number, and their norms taken. On a device norms are
// queued on the stream of the gradients, behind what wrote the vectors, and wait there: nothing
// else waits for them before Take, but when there are very many.
class NormMeter {
 public:
  // For vectors of at most `size` elements, where `context` computes. ResourceExhausted where its
  // device has no memory for the norms.
  static absl::StatusOr<std::unique_ptr<NormMeter>> Make(int64_t size,
                                                         const ComputeContext& context);

  // The sum of a vector's squares, of any size. The vector may be written again by what is queued
  // on the stream behind this.
  void Add(const float* vector, int64_t size);

  // The sums of squares of what was added since the last call, in this order
  // (kernels/vector/norms.h). The device's error, if it failed.
  absl::StatusOr<std::vector<double>> Take();

 private:
  static constexpr size_t kMostQueued = 256;

  NormMeter() = default;
  // Fetches the norms that are queued.
  absl::Status Collect();

  std::vector<double> squares_;

  // Null on the CPU, which needs nothing of the following either.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> norms_;  // the device's: queued ones
  std::shared_ptr<void> workspace_;
  std::shared_ptr<void> copies_;  // pinned: of the norms
  size_t queued_ = 0;             // of them
  absl::Status status_;
};

// Measures the noise of gradients that are means over passes (base/gradient.h), where they
// are computed.
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

#endif  // GRAPEVINE_MODEL_PROBLEM_GRADIENT_METERS_H_
