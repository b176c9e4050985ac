// Steps of a network that a device has recorded, so that the next ones are queued by one
// call each.
//
// A step is the same calls over the same memory again and again, but that the replica
// changes between a few vectors: each gets a recording of its own. On a GPU, where a step
// is hundreds of launches, a small network otherwise waits for the processor.
//
// Thread-compatible.
#ifndef GRAPEVINE_MODEL_NETWORK_RECORDED_STEPS_H_
#define GRAPEVINE_MODEL_NETWORK_RECORDED_STEPS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "kernels/tensor/tensor_device.h"

namespace grapevine {

// Of one execution plan, which it must not outlive.
class RecordedSteps {
 public:
  // How often a step is queued call by call first: what libraries load or choose at a
  // first call is no part of a step, and not every step comes again.
  static constexpr int kPlainSteps = 2;
  // Steps that are remembered: those queued last. D-PSGD's take window + 2 vectors in turn.
  static constexpr size_t kMost = 64;

  // The device outlives this.
  explicit RecordedSteps(TensorDevice* device) : device_(device) {}

  // Queues `calls`, a function of these two vectors and the plan, one by one or as
  // recorded.
  void Queue(const float* replica, const float* gradient, const std::function<void()>& calls);

 private:
  struct Step {
    const float* replica;
    const float* gradient;
    uint64_t device_state;
    int times_queued = 0;
    std::unique_ptr<StepRecording> recording = nullptr;  // null: not yet
  };

  // The step of these, found or new, now the first of the list.
  Step& MoveToFront(const float* replica, const float* gradient);
  void Record(const std::function<void()>& calls, Step* step);

  TensorDevice* device_;
  bool records_ = true;    // until a recording failed
  std::list<Step> steps_;  // the one queued last first
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_RECORDED_STEPS_H_
