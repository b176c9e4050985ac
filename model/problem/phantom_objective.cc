#include "model/problem/phantom_objective.h"

#include <algorithm>

namespace grapevine {

PhantomObjective::PhantomObjective(const PhantomOptions& options) : options_(options) {
  layout_.AddParameter("phantom", {options_.elements});
}

void PhantomObjective::Initialize(float* replica) { std::fill_n(replica, layout_.size, 0.0f); }

absl::StatusOr<double> PhantomObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  return 0.0;
}

}  // namespace grapevine
