#include "experiment/core/dealt_objective.h"

#include <optional>
#include <utility>

#include "algorithm/view.h"

namespace grapevine {

DealtObjective::DealtObjective(std::unique_ptr<Objective> objective, const RunCourse* course)
    : ForwardingObjective(std::move(objective)), course_(course) {}

absl::StatusOr<double> DealtObjective::GradientInParts(const float* replica, int64_t round,
                                                       float* gradient,
                                                       const FinalFrom& final_from) {
  // Not those of later rounds: another node of this process may be ahead.
  for (std::optional<View> view = course_->ViewAfter(dealt_); view && view->from <= round;
       view = course_->ViewAfter(dealt_)) {
    DealAgain(view->from, view->members);
    dealt_ = view->epoch;
  }
  return Inside(replica, round, gradient, final_from);
}

}  // namespace grapevine
