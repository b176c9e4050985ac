// Measures norms of vectors where gradients are computed, on the CPU or on a device.
#ifndef GRAPEVINE_MODEL_PROBLEM_NORM_METER_H_
#define GRAPEVINE_MODEL_PROBLEM_NORM_METER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  // (kernels/vector/tensor_norms.h). The device's error, if it failed.
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

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NORM_METER_H_
