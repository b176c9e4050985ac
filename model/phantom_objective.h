// A model that only takes time and bytes: for measuring networks.
#ifndef GRAPEVINE_MODEL_PHANTOM_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PHANTOM_OBJECTIVE_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "model/objective.h"

namespace grapevine {

struct PhantomOptions {
  int64_t elements = 0;  // fp32 numbers of the replica
  int64_t batch_size = 32;
  std::chrono::nanoseconds compute{0};  // what a gradient takes
  // Waits that long: a sleep, or a clock that a test moves.
  std::function<void(std::chrono::nanoseconds)> wait;
};

// Thread-compatible.
class PhantomObjective : public Objective {
 public:
  explicit PhantomObjective(PhantomOptions options);

  const ReplicaLayout& layout() const override { return layout_; }
  // Zeros.
  void Initialize(float* replica) override;
  // Waits and leaves `gradient` as it is. Never fails; the loss is 0.
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  int64_t batch_size() const override { return options_.batch_size; }

 private:
  const PhantomOptions options_;
  ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PHANTOM_OBJECTIVE_H_
