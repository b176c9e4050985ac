// An objective whose node takes over its part of the data of those who are lost, as soon as it
// comes to a round of a view without them (RunCourse::GoOn).
#ifndef GRAPEVINE_EXPERIMENT_CORE_DEALT_OBJECTIVE_H_
#define GRAPEVINE_EXPERIMENT_CORE_DEALT_OBJECTIVE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "experiment/core/run_course.h"
#include "model/problem/forwarding_objective.h"
#include "model/problem/objective.h"

namespace grapevine {

// Thread-compatible, as the objective inside.
class DealtObjective final : public ForwardingObjective {
 public:
  // The course outlives this.
  DealtObjective(std::unique_ptr<Objective> objective, const RunCourse* course);

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, nullptr);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from, int64_t round) const override {
    return inside().ReadyAt(from, round);
  }

 private:
  const RunCourse* const course_;
  uint32_t dealt_ = 0;  // the epoch of the view among whose members the data are dealt
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_DEALT_OBJECTIVE_H_
