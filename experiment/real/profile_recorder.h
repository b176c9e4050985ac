// How long the gradients and the mixing of one node took.
#ifndef GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_
#define GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_

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

  // No `gradient_seconds` on a parameter server. The first round is left out where
  // there are more: it warms up.
  void OnRound(double gradient_seconds, double mix_seconds, int64_t mix_bytes);

  // One device, whose times are a sample of at most kMaxTimes.
  ComputeProfile Profile() const;

  static constexpr size_t kMaxTimes = 4096;

 private:
  void AddGradient(int64_t nanoseconds);

  const std::string device_;
  int64_t rounds_ = 0;
  std::vector<int64_t> times_;  // of every stride_-th gradient
  int64_t stride_ = 1;
  int64_t gradients_ = 0;
  int64_t mix_bytes_ = 0;
  double mix_seconds_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_PROFILE_RECORDER_H_
