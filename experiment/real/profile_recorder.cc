#include "experiment/real/profile_recorder.h"

#include <algorithm>

namespace grapevine {

using std::chrono::nanoseconds;

void ProfileRecorder::OnRound(nanoseconds gradient, nanoseconds mix, int64_t mix_bytes) {
  if (++rounds_ == 2) {  // the first one warmed up
    times_.clear();
    gradients_ = mix_bytes_ = 0;
    mix_ = {};
  }
  mix_bytes_ += mix_bytes;
  mix_ += mix;
  if (gradient > nanoseconds::zero()) AddGradient(gradient);
}

void ProfileRecorder::AddGradient(nanoseconds time) {
  if (gradients_++ % stride_ != 0) return;
  if (times_.size() == kMaxTimes) {
    for (size_t i = 0; 2 * i < times_.size(); ++i) times_[i] = times_[2 * i];
    times_.resize(kMaxTimes / 2);
    stride_ *= 2;
  }
  times_.push_back(time.count());
}

ComputeProfile ProfileRecorder::Profile() const {
  ComputeProfile profile;
  DeviceProfile& device = *profile.add_devices();
  device.set_device(device_);
  device.set_gradients(gradients_);
  device.mutable_gradient_ns()->Assign(times_.begin(), times_.end());
  std::ranges::sort(*device.mutable_gradient_ns());
  device.set_mix_bytes(mix_bytes_);
  device.set_mix_ns(mix_.count());
  return profile;
}

}  // namespace grapevine
