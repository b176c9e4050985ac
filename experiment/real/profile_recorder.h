// How long the gradients and the mixing of one node took.
#ifndef GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_
#define GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/timing/compute_profile.pb.h"

namespace grapevine {

// Thread-compatible. Its memory does not grow with the length of the run.
class ProfileRecorder {
 public:
  explicit ProfileRecorder(std::string device) : device_(std::move(device)) {}

  // A `gradient` of no time on a parameter server. The first round is left out where
  // there are more: it warms up.
  void OnRound(std::chrono::nanoseconds gradient, std::chrono::nanoseconds mix, int64_t mix_bytes);

  // One device, whose times are a sample of at most kMaxTimes.
  ComputeProfile Profile() const;

  static constexpr size_t kMaxTimes = 4096;

 private:
  void AddGradient(std::chrono::nanoseconds time);

  const std::string device_;
  int64_t rounds_ = 0;
  std::vector<int64_t> times_;  // of every stride_-th gradient
  int64_t stride_ = 1;
  int64_t gradients_ = 0;
  int64_t mix_bytes_ = 0;
  std::chrono::nanoseconds mix_{};
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_
