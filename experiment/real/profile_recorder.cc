#include "experiment/real/profile_recorder.h"

#include <algorithm>
#include <cmath>

namespace grapevine {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

void ProfileRecorder::OnRound(double gradient_seconds, double mix_seconds, int64_t mix_bytes) {
  if (++rounds_ == 2) {  // the first one warmed up
    times_.clear();
    gradients_ = mix_bytes_ = 0;
    mix_seconds_ = 0;
  }
  mix_bytes_ += mix_bytes;
  mix_seconds_ += mix_seconds;
  if (gradient_seconds > 0) AddGradient(std::llround(gradient_seconds * kNanosecondsPerSecond));
}

void ProfileRecorder::AddGradient(int64_t nanoseconds) {
  if (gradients_++ % stride_ != 0) return;
  if (times_.size() == kMaxTimes) {
    for (size_t i = 0; 2 * i < times_.size(); ++i) times_[i] = times_[2 * i];
    times_.resize(kMaxTimes / 2);
    stride_ *= 2;
  }
  times_.push_back(nanoseconds);
}

ComputeProfile ProfileRecorder::Profile() const {
  ComputeProfile profile;
  DeviceProfile& device = *profile.add_devices();
  device.set_device(device_);
  device.set_gradients(gradients_);
  device.mutable_gradient_ns()->Assign(times_.begin(), times_.end());
  std::ranges::sort(*device.mutable_gradient_ns());
  device.set_mix_bytes(mix_bytes_);
  device.set_mix_ns(std::llround(mix_seconds_ * kNanosecondsPerSecond));
  return profile;
}

}  // namespace grapevine
