#include "model/network/recorded_steps.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace grapevine {

void RecordedSteps::Queue(const float* replica, const float* gradient,
                          const std::function<void()>& calls) {
  if (!records_) return calls();
  Step& step = MoveToFront(replica, gradient);
  if (step.times_queued++ < kPlainSteps) return calls();
  if (step.recording == nullptr) Record(calls, &step);
  step.recording == nullptr ? calls() : step.recording->Queue();
}

RecordedSteps::Step& RecordedSteps::MoveToFront(const float* replica, const float* gradient) {
  const uint64_t state = device_->step_state();
  const auto found = std::ranges::find_if(steps_, [&](const Step& step) {
    return step.replica == replica && step.gradient == gradient && step.device_state == state;
  });
  if (found != steps_.end()) {
    steps_.splice(steps_.begin(), steps_, found);
  } else {
    if (steps_.size() == kMost) steps_.pop_back();
    steps_.push_front({.replica = replica, .gradient = gradient, .device_state = state});
  }
  return steps_.front();
}

void RecordedSteps::Record(const std::function<void()>& calls, Step* step) {
  absl::StatusOr<std::unique_ptr<StepRecording>> recording = device_->Record(calls);
  if (recording.ok()) {
    step->recording = *std::move(recording);
    return;
  }
  if (absl::IsUnavailable(recording.status())) return;  // the step has failed; the next may not
  records_ = false;
  if (absl::IsUnimplemented(recording.status())) return;
  LOG(WARNING) << "Steps are queued call by call: " << recording.status().message();
}

}  // namespace grapevine
