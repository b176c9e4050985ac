// An objective whose gradients are clipped by their norm (kernels/vector/clip_norm.h).
//
// What is clipped is one node's own gradient, over all its parameters and before anything is done
// with it: before it is averaged with others' or sent to a server, before momentum and weight
// decay. So the norm is that of a whole gradient under every algorithm, and the same whether
// buckets or servers cut it later. The statistics of batch norm are left alone.
//
// Nothing of a gradient is final before its norm is known: it has no parts that are ready early.
#ifndef GRAPEVINE_MODEL_PROBLEM_CLIPPED_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_CLIPPED_OBJECTIVE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"
#include "model/problem/forwarding_objective.h"
#include "model/problem/objective.h"

namespace grapevine {

// Thread-compatible, as the objective inside.
class ClippedObjective final : public ForwardingObjective {
 public:
  // `limit`, of the norm, is positive. `objective` computes in `context`. ResourceExhausted when
  // its device has no memory for the norm.
  static absl::StatusOr<std::unique_ptr<ClippedObjective>> Make(
      std::unique_ptr<Objective> objective, double limit, const ComputeContext& context);

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;

 private:
  ClippedObjective(std::unique_ptr<Objective> objective, double limit)
      : ForwardingObjective(std::move(objective)), limit_(limit) {}

  const double limit_;
  // Null on the CPU, which needs no scratch memory either.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> scratch_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_CLIPPED_OBJECTIVE_H_
