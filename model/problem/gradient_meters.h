// Measures norms of vectors, and the noise of gradients, where gradients are computed: on the CPU
// or on a device.
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

// Measures the norms of vectors. Callers add any number of vectors and then take their norms. On a
// device, norms are queued on the stream of the gradients, after the work that wrote the vectors.
// Add does not wait for them, except when very many are queued; Take does. Thread-compatible.
class NormMeter {
 public:
  // Makes a meter for vectors of at most `size` elements, which computes in `context`. Returns
  // ResourceExhausted if the device has no memory for the norms.
  static absl::StatusOr<std::unique_ptr<NormMeter>> Make(int64_t size,
                                                         const ComputeContext& context);

  // Adds a vector, whose sum of squares is measured. Work that is queued on the stream afterwards
  // may write the vector again.
  void Add(const float* vector, int64_t size);

  // Returns the sums of squares (kernels/vector/norms.h) of the vectors added since the last call,
  // in the order of their addition, or the device's error.
  absl::StatusOr<std::vector<double>> Take();

 private:
  static constexpr size_t kMostQueued = 256;

  NormMeter() = default;
  // Fetches the queued norms.
  absl::Status Collect();

  std::vector<double> squares_;

  // The following members are used on a device only; `stream_` is null on the CPU.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> norms_;  // queued norms, in device memory
  std::shared_ptr<void> workspace_;
  std::shared_ptr<void> copies_;  // copies of the norms, in pinned memory
  size_t queued_ = 0;             // number of queued norms
  absl::Status status_;
};

// Measures the noise of gradients that are means over passes (base/gradient.h), where they
// are computed. Callers measure one gradient at a time: they add its passes and its mean, in any
// number of parts, and then take the noise. Waits for a device happen as in NormMeter.
// Thread-compatible.
class NoiseMeter {
 public:
  // Makes a meter for parts of at most `size` elements, which computes in `context`. Errors are
  // those of NormMeter::Make.
  static absl::StatusOr<std::unique_ptr<NoiseMeter>> Make(int64_t size,
                                                          const ComputeContext& context);

  // Add a part of a pass's gradient, or a part of the mean over all passes.
  void AddPass(const float* part, int64_t size) { Add(kPasses, part, size); }
  void AddMean(const float* part, int64_t size) { Add(kMean, part, size); }

  // Returns the noise of the gradient whose parts were added since the last call: the mean of
  // `passes` gradients, at least two, of `batch` samples each. Returns an empty GradientNoise if
  // one of them is not finite, and the device's error if it failed.
  absl::StatusOr<GradientNoise> Take(int64_t passes, int64_t batch);

 private:
  enum Sum { kPasses, kMean, kSums };

  explicit NoiseMeter(std::unique_ptr<NormMeter> norms) : norms_(std::move(norms)) {}
  void Add(Sum sum, const float* part, int64_t size);

  const std::unique_ptr<NormMeter> norms_;
  std::vector<Sum> added_;  // the sum to which each added norm belongs
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_GRADIENT_METERS_H_
